import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport

/// A stream over bytes in memory, handed out in pieces of the sizes given, over and over; all at once if none are given.
final class ChoppedStream: ByteStream, @unchecked Sendable {
  private let bytes: [UInt8]
  private let pieces: [Int]
  private let failure: (any Error)?
  private var position = 0
  private var piece = 0

  init(_ bytes: [UInt8], pieces: [Int] = [], failure: (any Error)? = nil) {
    (self.bytes, self.pieces, self.failure) = (bytes, pieces, failure)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let limit = pieces.isEmpty ? Int.max : pieces[piece % pieces.count]
    piece += 1
    let count = min(limit, buffer.count, bytes.count - position)
    if count == 0, let failure { throw failure }
    bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<(position + count)])) }
    position += count
    return count
  }
  var inputBytesRead: Int { position }
}

/// A JSON value as a test thinks of it. Members keep order and repetitions.
indirect enum JSONModel: Equatable, Sendable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONModel])
  case object([JSONMemberModel])

  var kind: ValueKind {
    switch self {
    case .null: .null
    case .bool(let value): value ? .true : .false
    case .number: .number
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }

  /// The value with repeated keys resolved: first place, last value.
  var resolved: JSONModel {
    switch self {
    case .array(let elements): return .array(elements.map(\.resolved))
    case .object(let members):
      var result: [JSONMemberModel] = []
      for member in members {
        if let index = result.firstIndex(where: { $0.key == member.key }) {
          result[index].value = member.value.resolved
        } else {
          result.append(JSONMemberModel(member.key, member.value.resolved))
        }
      }
      return .object(result)
    default: return self
    }
  }

  subscript(key: String) -> JSONModel? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.key == key }?.value
  }
}

struct JSONMemberModel: Equatable, Sendable {
  var key: String
  var value: JSONModel
  init(_ key: String, _ value: JSONModel) { (self.key, self.value) = (key, value) }
}

/// Makes random JSON and spells it in random ways.
struct JSONMaker {
  var generator: SeededGenerator
  /// Spaces between tokens, and escapes where none are needed.
  var isSloppy = true
  /// Keys at the top level are taken from these.
  var keys = ["id", "email", "name", "address", "address.city", "tags", "a key that is longer than sixteen bytes", "", "ké\"y", "n\\"]

  var repeatsNestedKeys = true

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  mutating func record(repeating repeatPercent: Int = 5) -> JSONModel {
    var members: [JSONMemberModel] = []
    var pool = keys
    for _ in 0..<Int.random(in: 0...7, using: &generator) {
      guard let key = chance(repeatPercent) ? keys.randomElement(using: &generator) : pool.randomElement(using: &generator) else { break }
      pool.removeAll { $0 == key }
      members.append(JSONMemberModel(key, value(depth: 0)))
    }
    return .object(members)
  }

  mutating func value(depth: Int) -> JSONModel {
    switch Int.random(in: 0..<(depth > 3 ? 6 : 9), using: &generator) {
    case 0: return .null
    case 1: return .bool(chance(50))
    case 2:
      return .number(
        ["0", "-0", "1.10", "9007199254740993", "-1e-2", "1E+3", "0.000", "18446744073709551615"].randomElement(using: &generator)!)
    case 3, 4, 5: return .string(text())
    case 6: return .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(depth: depth + 1) })
    default:
      let object = JSONModel.object(
        (0..<Int.random(in: 0...3, using: &generator)).map { _ in
          JSONMemberModel(["city", "value", "x", "\n"].randomElement(using: &generator)!, value(depth: depth + 1))
        })
      return repeatsNestedKeys ? object : object.resolved
    }
  }

  mutating func text() -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...9, using: &generator) {
      let scalars: [Unicode.Scalar] = ["a", "b", ",", ":", "{", "]", " ", "/", "é", "\u{2028}", "😀", "\"", "\\", "\n", "\u{1}", "\t"]
      text.unicodeScalars.append(scalars[Int.random(in: 0..<(chance(30) ? scalars.count : 3), using: &generator)])
    }
    return text
  }

  mutating func spell(_ value: JSONModel) -> String {
    switch value {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .number(let spelling): return spelling
    case .string(let text): return spell(text)
    case .array(let elements): return "[" + gap() + elements.map { spell($0) + gap() }.joined(separator: "," + gap()) + "]"
    case .object(let members):
      return "{" + gap()
        + members.map { spell($0.key) + gap() + ":" + gap() + spell($0.value) + gap() }.joined(separator: "," + gap()) + "}"
    }
  }

  mutating func spell(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      if mustEscape || isSloppy && chance(6) {
        let short: [Unicode.Scalar: String] = ["\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\t": "\\t", "/": "\\/"]
        if let form = short[scalar], chance(70) {
          result += form
        } else {
          for unit in String(scalar).utf16 {
            result += "\\u" + String(repeating: "0", count: 4 - String(unit, radix: 16).count) + String(unit, radix: 16)
          }
        }
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  mutating func gap() -> String { isSloppy && chance(15) ? [" ", "\t", "  ", "\r"].randomElement(using: &generator)! : "" }
}

/// What came out of the reader, with places counted from the start of the input.
struct ReadResult: Equatable {
  struct Field: Equatable {
    var kind: ValueKind
    /// Decoded text; JSON text of arrays and objects.
    var text: String
    var isNested = false
  }
  struct Record: Equatable {
    var text: String
    var line: Int
    var isVerbatim: Bool
    var fields: [Field]
    var members: [String: Field] = [:]
  }
  struct Rejected: Equatable {
    var reason: Reject.Reason
    var line: Int
    var column: Int
    var offset: Int
    var length: Int
    var raw: [UInt8]?
    /// Records before it.
    var ordinal: Int
  }
  var records: [Record] = []
  var rejects: [Rejected] = []
  var blankLines = 0
  var lines = 0
  var batches = 0
}

struct Reading {
  var names: [String] = []
  var batchBytes = 1 << 20
  var maxRecordBytes = 64 << 20
  var pieces: [Int] = []
  var wantsMembers = false

  func schema() -> RecordSchema {
    var schema = RecordSchema(columns: nil)
    for name in names { _ = try! schema.slot(reading: FieldName(name)) }
    return schema
  }

  func read(_ bytes: [UInt8], failure: (any Error)? = nil, each body: ((RecordBatch) throws -> Void)? = nil) throws -> ReadResult {
    let schema = schema()
    let parser = NDJSONParser(fields: schema.sourceFields, wantsMembers: wantsMembers, maxRecordBytes: maxRecordBytes)
    let framer = NDJSONFramer(
      ChoppedStream(bytes, pieces: pieces, failure: failure), batchBytes: batchBytes, maxRecordBytes: maxRecordBytes)
    let batch = RecordBatch()
    batch.slotCount = schema.slotCount
    var result = ReadResult()
    let scratch = ByteBuffer()
    while true {
      batch.recycle(limit: 1 << 20)
      guard try framer.next(into: batch) else { return result }
      _ = try parser.process(batch)
      precondition(batch.selectedCount == batch.recordCount)
      func field(_ span: FieldSpan) -> ReadResult.Field {
        ReadResult.Field(
          kind: span.kind, text: String(decoding: batch.text(of: span, scratch: scratch), as: UTF8.self),
          isNested: span.flags.contains(.nested))
      }
      for reject in batch.rejects {
        result.rejects.append(
          .init(
            reason: reject.reason, line: result.lines + reject.line, column: reject.column, offset: batch.firstByte + reject.offset,
            length: reject.length, raw: reject.raw, ordinal: result.records.count + reject.before))
      }
      for record in 0..<batch.recordCount {
        let span = batch.records[record]
        var model = ReadResult.Record(
          text: String(decoding: batch.bytes(ofRecord: record), as: UTF8.self), line: result.lines + Int(span.line),
          isVerbatim: span.flags.contains(.verbatim), fields: (0..<batch.slotCount).map { field(batch.field($0, of: record)) })
        if wantsMembers {
          for index in batch.members.starts[record]..<batch.members.starts[record + 1] {
            let member = batch.members.members[Int(index)]
            model.members[String(decoding: batch.members.keys[Int(member.key)], as: UTF8.self)] = field(member.span)
          }
        }
        result.records.append(model)
      }
      result.blankLines += batch.blankLines
      result.lines += batch.lineCount
      result.batches += 1
      try body?(batch)
    }
  }
}
