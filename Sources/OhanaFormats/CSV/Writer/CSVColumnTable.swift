internal import OhanaCore
internal import Synchronization

/// The columns of a CSV output at one point of the stream: a prefix of all it will have.
public final class CSVColumns: Sendable {
  public let names: [[UInt8]]
  /// Where in `names` a column stands.
  let index: [[UInt8]: Int]

  public init(_ names: [[UInt8]]) {
    self.names = names
    var index: [[UInt8]: Int] = [:]
    for (place, name) in names.enumerated() where index[name] == nil { index[name] = place }
    self.index = index
  }
}

/// The columns of a CSV output that is made of NDJSON records, as they are met: the union of the keys, in input order. Grows in stream
/// order only, so that it does not depend on threads.
public final class CSVColumnTable: Sendable {
  /// A column as a batch has met it.
  struct Found: Sendable, Equatable {
    var name: [UInt8]
    /// Found by going into a nested value.
    var isNested: Bool
  }
  private struct State {
    var columns = CSVColumns([])
    var isNested: [Bool] = []
  }

  public static let maxColumns = 4_096
  private let state = Mutex(State())

  public init() {}

  /// The columns met so far.
  public var columns: CSVColumns { state.withLock { $0.columns } }

  /// Adds what a batch has met and returns the columns from there on.
  ///
  /// - Throws: `badInput`: `too-many-columns`, or `column-conflict` for a flat and a nested value under one name.
  func merge(_ found: [Found]) throws(OhanaError) -> CSVColumns {
    try state.withLock { state throws(OhanaError) in
      var fresh: [Found] = []
      for column in found {
        let known = state.columns.index[column.name].map { state.isNested[$0] } ?? fresh.first { $0.name == column.name }?.isNested
        if let known {
          if known != column.isNested { throw Self.conflict(column.name) }
        } else {
          fresh.append(column)
        }
      }
      guard !fresh.isEmpty else { return state.columns }
      guard state.columns.names.count + fresh.count <= Self.maxColumns else {
        throw OhanaError(
          .badInput, "too-many-columns", "the records have more than \(Self.maxColumns) different keys, each of which would be a column",
          fix: "name the columns to write with --columns A,B,…")
      }
      state.columns = CSVColumns(state.columns.names + fresh.map(\.name))
      state.isNested += fresh.map(\.isNested)
      return state.columns
    }
  }

  static func conflict(_ name: [UInt8]) -> OhanaError {
    let text = String(decoding: name, as: UTF8.self)
    let dot = text.lastIndex(of: ".") ?? text.startIndex
    return OhanaError(
      .badInput, "column-conflict", field: text,
      "a member called '\(text)' and a member '\(text[dot...].dropFirst())' within '\(text[..<dot])' would share one column",
      fix: "rename or drop one of them first")
  }
}
