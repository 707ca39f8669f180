// The library's face: one import for everything public.
@_exported public import OhanaCore
@_exported public import OhanaEngine
@_exported public import OhanaFormats
@_exported public import OhanaRun
@_exported public import OhanaStages
