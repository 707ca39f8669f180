internal import OhanaCore
final class FileSpillStore: SpillStore {
  init(folder: FilePath?) {}
  func makeFile() throws -> any SpillFile { fatalError() }
  var maxOpenFiles: Int { 8 }
  func close() {}
}
enum InputResolver { static func resolve(_ i: [FilePath], filesFrom: FilePath?) throws -> [FilePath] { i } }
