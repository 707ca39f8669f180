import Foundation
import OhanaCore

/// A folder of one test, removed with everything in it.
final class TemporaryFolder: Sendable {
  let path: FilePath
  init() {
    let name = NSTemporaryDirectory() + "/ohana-tests-\(UUID().uuidString)"
    path = FilePath(name)
    precondition(mkdir(name, 0o700) == 0)
  }
  deinit { try? FileManager.default.removeItem(atPath: path.description) }

  @discardableResult func write(_ name: FilePath, _ bytes: [UInt8]) -> FilePath {
    let file = path.appending(name)
    let descriptor = file.withCString { open($0, O_CREAT | O_WRONLY | O_TRUNC, 0o644) }
    precondition(descriptor >= 0)
    precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
    return file
  }

  func read(_ name: FilePath) -> [UInt8]? {
    FileManager.default.contents(atPath: path.appending(name).description).map(Array.init)
  }

  /// Names in the folder, in byte order.
  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path.description).sorted()) ?? [] }
}

func outside(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
