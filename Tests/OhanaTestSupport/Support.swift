internal import OhanaCore
