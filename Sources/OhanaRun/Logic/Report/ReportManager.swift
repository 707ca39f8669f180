internal import OhanaCore
internal import OhanaFormats

/// Writes a small file whole or not at all.
protocol ReportManaging: Sendable {
  /// - Throws: `io` if it cannot be written.
  func write(_ text: [UInt8], to path: FilePath, overwrites: Bool, names: TemporaryNames) throws
}

/// Writes a small file whole or not at all. Holds nothing.
struct ReportManager: ReportManaging {
  /// - Throws: `io` if it cannot be written.
  func write(_ text: [UInt8], to path: FilePath, overwrites: Bool, names: TemporaryNames) throws {
    let file = OutputFile(try OutputTarget(path, overwrites: overwrites, names: names))
    do {
      try text.withUnsafeBufferPointer { try file.write($0) }
      try file.finish()
      try file.publish()
    } catch {
      file.discard()
      throw error
    }
  }
}
