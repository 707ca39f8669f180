@_exported public import OhanaCore
