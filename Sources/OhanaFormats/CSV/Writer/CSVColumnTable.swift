public import OhanaCore
internal import Synchronization

/// The columns of a CSV output at one point of the stream: a prefix of all it will have. Never changes.
public final class CSVColumns: Sendable {
  /// Names in order, all different.
  public let names: [[UInt8]]
  private let numbers: [[UInt8]: Int]

  /// Repeated names count once.
  public init(_ names: [[UInt8]]) {
    var numbers: [[UInt8]: Int] = [:]
    self.names = names.filter { name in
      guard numbers[name] == nil else { return false }
      numbers[name] = numbers.count
      return true
    }
    self.numbers = numbers
  }

  var count: Int { names.count }

  /// Place of a column, from 0.
  func number(of name: [UInt8]) -> Int? { numbers[name] }
}

/// The columns of a CSV output that is made of NDJSON records, as they are met: the union of the keys, in input order. Grows in stream
/// order only, so that it does not depend on threads.
public final class CSVColumnTable: Checkpointable, Sendable {
  private struct State {
    var columns = CSVColumns([])
    /// How a record leads to the column, by its name: one key for a member, more for a value within objects.
    var paths: [[UInt8]: [[UInt8]]] = [:]
    var names: [[UInt8]] = []
  }

  /// More are an error that names `--columns`: a file that wide is a mistake as a rule.
  public static let maxColumns = 4_096
  private let state = Mutex(State())

  /// Without columns.
  public init() {}

  /// The columns met so far.
  public var columns: CSVColumns { state.withLock { $0.columns } }

  /// Adds what a batch has met and returns the columns from there on.
  ///
  /// - Throws: `badInput`: `too-many-columns`, or `column-conflict` for two kinds of value under one name, naming both.
  func merge(_ list: CSVColumnList) throws(OhanaError) -> CSVColumns {
    try state.withLock { state throws(OhanaError) in
      let before = state.names.count
      if before == 0 { for path in list.opening { try Self.add(path, &state) } }
      for path in list.paths { try Self.add(path, &state) }
      if state.names.count > before { state.columns = CSVColumns(state.names) }
      return state.columns
    }
  }

  /// Whether there is a column of this name, or one within an object of this name.
  func holds(_ name: [UInt8]) -> Bool {
    state.withLock { state in state.paths[name] != nil || state.paths.values.contains { $0.count > 1 && $0[0] == name } }
  }

  public func save(to writer: CheckpointWriter) throws {
    let (names, paths) = state.withLock { ($0.names, $0.paths) }
    try writer.put(names.count)
    for name in names {
      let path = paths[name] ?? []
      try writer.put(path.count)
      for key in path { try writer.put(key) }
    }
  }

  public func restore(from reader: CheckpointReader) throws {
    var paths: [[[UInt8]]] = []
    for _ in 0..<(try reader.count(Self.maxColumns)) {
      var path: [[UInt8]] = []
      for _ in 0..<(try reader.count(1 << 20)) { path.append(try reader.bytes()) }
      paths.append(path)
    }
    _ = try merge(CSVColumnList(paths))
  }

  private static func add(_ path: [[UInt8]], _ state: inout State) throws(OhanaError) {
    let name = CSVColumnList.name(path)
    if let known = state.paths[name] {
      if known != path { throw conflict(name, known, path) }
      return
    }
    guard state.names.count < maxColumns else {
      throw OhanaError(
        .badInput, "too-many-columns", "the records have more than \(maxColumns) different keys, each of which would be a column",
        fix: "name the columns to write with --columns A,B,…")
    }
    state.paths[name] = path
    state.names.append(name)
  }

  private static func conflict(_ name: [UInt8], _ a: [[UInt8]], _ b: [[UInt8]]) -> OhanaError {
    func text(_ path: [[UInt8]]) -> String {
      let keys = path.map { "'\(String(decoding: $0, as: UTF8.self))'" }
      return keys.count == 1 ? "the member \(keys[0])" : keys.reversed().joined(separator: " in ")
    }
    return OhanaError(
      .badInput, "column-conflict", field: String(decoding: name, as: UTF8.self), "\(text(a)) and \(text(b)) would share one column",
      fix: "rename or drop one of them first")
  }
}

/// Column paths of the records of one batch, each once, in the order of their first appearance.
final class CSVColumnList: Sendable, Equatable {
  let paths: [[[UInt8]]]
  /// The same of the batch's first record, fields of an explicit layout that it lacks included: counts for the stream's first record.
  let opening: [[[UInt8]]]

  init(_ paths: [[[UInt8]]], opening: [[[UInt8]]] = []) {
    self.paths = paths
    self.opening = opening
  }
  static func == (a: CSVColumnList, b: CSVColumnList) -> Bool { a.paths == b.paths && a.opening == b.opening }

  /// The name of the column for a path: `address.city`.
  static func name(_ path: [[UInt8]]) -> [UInt8] { path.count == 1 ? path[0] : Array(path.joined(separator: [UInt8(ascii: ".")])) }
}
