#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import OhanaCore
internal import OhanaFormats

/// Writes what became of a run to a file, for failed runs too. Holds nothing.
struct ReportManager: Sendable {
  private struct Report: Encodable {
    struct Failure: Encodable {
      var code: String
      var exit: Int32
      var message: String
    }
    var version: String
    var failure: Failure?
    var notes: [String]
    var books: RunBooks
  }

  /// The report as JSON, keys in order; a pure function of the outcome.
  func json(_ outcome: RunOutcome) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let report = Report(
      version: Version.current,
      failure: outcome.error.map { .init(code: $0.code, exit: $0.category.rawValue, message: $0.description) }, notes: outcome.notes,
      books: outcome.books)
    return Array(try encoder.encode(report)) + [0x0a]
  }

  /// - Throws: `io` if it cannot be written.
  func write(_ outcome: RunOutcome, to path: FilePath, overwrites: Bool) throws {
    let file = OutputFile(try OutputTarget(path, overwrites: overwrites))
    do {
      try json(outcome).withUnsafeBufferPointer { try file.write($0) }
      try file.finish()
      try file.publish()
    } catch {
      file.discard()
      throw error
    }
  }
}
