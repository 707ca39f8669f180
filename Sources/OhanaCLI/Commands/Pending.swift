internal import Ohana
enum StatsCommand { static let help: [StageHelp.Option] = []; static func run(_ w: inout ArgumentWords) async throws -> Int32 { 2 } }
enum DiffCommand { static let help: [StageHelp.Option] = []; static func run(_ w: inout ArgumentWords) async throws -> Int32 { 2 } }
