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
///
/// Where a stage may stop reading, columns are met ahead of the record that makes it stop, by as much as happens to be under way. So each
/// is kept with the record that first had it, and ``end(before:entries:)`` takes those back that lie behind the stop. A fault of the
/// columns is kept in the same way then: it is one only if its record counts, see ``settle()``.
public final class CSVColumnTable: Checkpointable, Sendable {
  fileprivate struct State {
    var columns = CSVColumns([])
    /// How a record leads to the column, by its name: one key for a member, more for a value within objects.
    var paths: [[UInt8]: [[UInt8]]] = [:]
    /// Columns in the order in which records had them, and the first record that did.
    var met: [(name: [UInt8], origin: RecordOrigin)] = []
    /// A record has come by.
    var hasBegun = false
    var mayEnd = false
    var endsWhileWriting = false
    /// What was met from here on does not count, and nothing is met any more.
    var end: RecordOrigin?
    var fault: Fault?
  }

  /// What cannot be written as CSV, and the first record that is to blame. Nothing is met behind it.
  fileprivate struct Fault {
    var origin: RecordOrigin
    /// Two ways to one column; none for too many columns.
    var paths: [[[UInt8]]]

    var error: OhanaError { paths.count == 2 ? CSVColumnTable.conflict(paths[0], paths[1]) : CSVColumnTable.tooMany }
  }

  /// More are an error that names `--columns`: a file that wide is a mistake as a rule.
  public static let maxColumns = 4_096
  private let state = Mutex(State())

  /// Without columns.
  public init() {}

  /// The columns met so far.
  public var columns: CSVColumns { state.withLock { $0.columns } }

  /// Columns to write a batch with that met `provisional` ones; behind a stop, those of the output.
  func columns(for provisional: CSVColumns?) -> CSVColumns {
    state.withLock { $0.end == nil ? provisional ?? $0.columns : $0.columns }
  }

  /// The columns met may turn out to be too many while rows are being written.
  package var endsWhileWriting: Bool { state.withLock { $0.endsWhileWriting } }

  /// Faults wait for ``settle()``, and columns know their records.
  ///
  /// - Parameter whileWriting: rows may be written before it is known where the columns end.
  package func mayEnd(whileWriting: Bool) {
    state.withLock { state in
      state.mayEnd = true
      state.endsWhileWriting = whileWriting
    }
  }

  /// A stage has stopped reading: only what records before `bound` have counts. Of several calls, the one with the earliest record does.
  ///
  /// - Parameter entries: fields that are columns in any case, see ``complete(_:)``.
  func end(before bound: RecordOrigin, entries: [[UInt8]]) {
    state.withLock { state in
      if let end = state.end, !bound.isBefore(end) { return }
      state.end = bound
      if let fault = state.fault, !fault.origin.isBefore(bound) { state.fault = nil }
      while let last = state.met.last, !last.origin.isBefore(bound) {
        state.paths[last.name] = nil
        state.met.removeLast()
      }
      state.complete(entries)
    }
  }

  /// The last record has passed: entries of the layout that none had are columns all the same, behind the others.
  ///
  /// - Throws: `too-many-columns`, unless that waits for ``settle()``.
  func complete(_ entries: [[UInt8]]) throws(OhanaError) {
    let mayEnd = state.withLock { state in
      if state.end == nil { state.complete(entries) }
      return state.mayEnd
    }
    if !mayEnd { try check() }
  }

  /// To be called when no more columns will be met or taken back, before a header that cannot be mended, and before anything is published.
  ///
  /// - Throws: `badInput`, what ``merge(_:hasRecords:placed:)`` would have thrown.
  package func settle() throws(OhanaError) {
    try check()
    state.withLock { $0.endsWhileWriting = false }
  }

  private func check() throws(OhanaError) {
    let (fault, count) = state.withLock { ($0.fault, $0.columns.count) }
    if let fault { throw fault.error }
    if count > Self.maxColumns { throw Self.tooMany }
  }

  /// What will be thrown should the record at fault count: for whoever meets its consequences before.
  var fault: OhanaError? { state.withLock { $0.fault?.error } }

  /// Adds what a batch has met and returns the columns from there on.
  ///
  /// - Parameters:
  ///   - hasRecords: the batch has any.
  ///   - placed: the same list again with the record of each path; asked for where a new path's record may come to matter.
  /// - Throws: `badInput`: `too-many-columns`, or `column-conflict` for two kinds of value under one name, naming both.
  func merge(_ list: CSVColumnList, hasRecords: Bool, placed: () -> CSVPlacedList) throws(OhanaError) -> CSVColumns {
    try state.withLock { state throws(OhanaError) in
      guard state.end == nil, state.fault == nil else { return state.columns }
      let isFirst = hasRecords && !state.hasBegun
      guard isFirst || state.bringsNews(list) else { return state.columns }
      state.hasBegun = state.hasBegun || hasRecords
      let before = state.met.count
      if state.mayEnd {
        let placed = placed()
        if isFirst { for path in placed.list.opening { state.add(path, placed.origin(0)) } }
        for (path, record) in zip(placed.list.paths, placed.records) { state.add(path, placed.origin(record)) }
      } else {
        let nowhere = RecordOrigin(source: 0, ordinal: 0)
        for path in (isFirst ? list.opening : []) + list.paths { state.add(path, nowhere) }
        if let fault = state.fault { throw fault.error }
      }
      if state.met.count > before { state.columns = CSVColumns(state.met.map(\.name)) }
      return state.columns
    }
  }

  public func save(to writer: CheckpointWriter) throws {
    let state = state.withLock { $0 }
    func put(_ path: [[UInt8]]) throws {
      try writer.put(path.count)
      for key in path { try writer.put(key) }
    }
    func put(_ origin: RecordOrigin) throws {
      try writer.put(Int(origin.source))
      try writer.put(origin.ordinal)
    }
    try writer.put(state.met.count)
    for (name, origin) in state.met {
      try put(state.paths[name] ?? [name])
      try put(origin)
    }
    try put(state.columns.names)
    try writer.put(state.hasBegun)
    try writer.put(state.end != nil)
    if let end = state.end { try put(end) }
    try writer.put(state.fault != nil)
    guard let fault = state.fault else { return }
    try put(fault.origin)
    try writer.put(fault.paths.count)
    for path in fault.paths { try put(path) }
  }

  public func restore(from reader: CheckpointReader) throws {
    func path() throws -> [[UInt8]] { try (0..<(try reader.count(1 << 20))).map { _ in try reader.bytes() } }
    func origin() throws -> RecordOrigin {
      RecordOrigin(source: UInt32(truncatingIfNeeded: try reader.count()), ordinal: try reader.uint64())
    }
    var restored = State()
    for _ in 0..<(try reader.count(Self.maxColumns)) {
      let path = try path()
      let name = CSVColumnList.name(path)
      restored.paths[name] = path
      restored.met.append((name, try origin()))
    }
    restored.columns = CSVColumns(try path())
    restored.hasBegun = try reader.bool()
    if try reader.bool() { restored.end = try origin() }
    if try reader.bool() {
      let origin = try origin()
      restored.fault = Fault(origin: origin, paths: try (0..<(try reader.count(2))).map { _ in try path() })
    }
    let found = restored
    state.withLock { state in
      let (mayEnd, endsWhileWriting) = (state.mayEnd, state.endsWhileWriting)
      state = found
      (state.mayEnd, state.endsWhileWriting) = (mayEnd, endsWhileWriting)
    }
  }

  fileprivate static var tooMany: OhanaError {
    OhanaError(
      .badInput, "too-many-columns", "the records have more than \(maxColumns) different keys, each of which would be a column",
      fix: "name the columns to write with --columns A,B,…")
  }

  fileprivate static func conflict(_ a: [[UInt8]], _ b: [[UInt8]]) -> OhanaError {
    func text(_ path: [[UInt8]]) -> String {
      let keys = path.map { "'\(String(decoding: $0, as: UTF8.self))'" }
      return keys.count == 1 ? "the member \(keys[0])" : keys.reversed().joined(separator: " in ")
    }
    return OhanaError(
      .badInput, "column-conflict", field: String(decoding: CSVColumnList.name(a), as: UTF8.self),
      "\(text(a)) and \(text(b)) would share one column", fix: "rename or drop one of them first")
  }
}

extension CSVColumnTable.State {
  fileprivate func bringsNews(_ list: CSVColumnList) -> Bool { list.paths.contains { paths[CSVColumnList.name($0)] != $0 } }

  /// Adds a column unless it is known. Nothing is added behind a fault.
  fileprivate mutating func add(_ path: [[UInt8]], _ origin: RecordOrigin) {
    guard fault == nil else { return }
    let name = CSVColumnList.name(path)
    if let known = paths[name] {
      if known != path { fault = .init(origin: origin, paths: [known, path]) }
    } else if met.count == CSVColumnTable.maxColumns {
      fault = .init(origin: origin, paths: [])
    } else {
      paths[name] = path
      met.append((name, origin))
    }
  }

  /// Whether there is a column of this name, or one within an object of this name.
  private func holds(_ name: [UInt8]) -> Bool { paths[name] != nil || paths.values.contains { $0.count > 1 && $0[0] == name } }

  fileprivate mutating func complete(_ entries: [[UInt8]]) {
    columns = CSVColumns(met.map(\.name) + entries.filter { !holds($0) })
  }
}

extension RecordOrigin {
  /// In the order of the input.
  func isBefore(_ other: RecordOrigin) -> Bool { (source, ordinal) < (other.source, other.ordinal) }
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

/// A batch's list together with the records that its paths are of.
struct CSVPlacedList {
  let list: CSVColumnList
  /// First record of each of the list's paths, by its index in the batch.
  let records: [Int]
  /// The batch's first record.
  let first: RecordOrigin

  func origin(_ record: Int) -> RecordOrigin {
    RecordOrigin(source: first.source, ordinal: first.ordinal &+ UInt64(truncatingIfNeeded: record))
  }
}
