import Foundation
import OhanaTestSupport
import Testing

/// One run of the tool: files, words, and all that must come of it.
struct ToolCase: Sendable, CustomTestStringConvertible {
  /// Identifier and rule: `csv-001: a byte order mark is no part of the first name`.
  let name: String
  let files: [String: [UInt8]]
  let words: [String]
  var status: Int32 = 0
  /// Standard output, to the byte; nil: not looked at.
  var out: String?
  /// The whole error line behind `ohana: `, or several parts of standard error.
  var error: String?
  var says: [String] = []
  /// Standard error must not hold these.
  var neverSays: [String] = []
  /// Files that must be there afterwards, and their content.
  var leaves: [String: String] = [:]
  /// Files that must not be there.
  var leavesNot: [String] = []
  var environment: [String: String] = [:]
  var testDescription: String { name }

  init(
    _ name: String, _ files: [String: String] = [:], bytes: [String: [UInt8]] = [:], _ words: [String], status: Int32 = 0,
    out: String? = nil,
    error: String? = nil, says: [String] = [], neverSays: [String] = [], leaves: [String: String] = [:], leavesNot: [String] = [],
    environment: [String: String] = [:]
  ) {
    self.name = name
    self.files = files.mapValues { Array($0.utf8) }.merging(bytes) { $1 }
    self.words = words
    self.status = status
    self.out = out
    self.error = error
    self.says = says
    self.neverSays = neverSays
    self.leaves = leaves
    self.leavesNot = leavesNot
    self.environment = environment
  }

  /// A case without files.
  init(_ name: String, _ words: [String], status: Int32 = 0, says: [String] = []) {
    self.init(name, [:], bytes: [:], words, status: status, says: says)
  }

  func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let folder = try Workdir()
    for (name, bytes) in files { try folder.write(name, Data(bytes)) }
    let result = try folder.run(words, environment: environment)
    #expect(result.status == status, "\(name): \(result.err)", sourceLocation: sourceLocation)
    if let out { #expect(result.text == out, "\(name)", sourceLocation: sourceLocation) }
    let lines = result.err.split(separator: "\n")
    if let error {
      #expect(lines.last { $0.hasPrefix("ohana: ") }.map(String.init) == "ohana: " + error, "\(name)", sourceLocation: sourceLocation)
    }
    if status != 0, status != 1 {
      #expect(lines.count { $0.hasPrefix("ohana: ") } == 1, "one line tells of a failure: \(result.err)", sourceLocation: sourceLocation)
    }
    for part in says { #expect(result.err.contains(part), "\(name): \(part) in: \(result.err)", sourceLocation: sourceLocation) }
    for part in neverSays { #expect(!result.err.contains(part), "\(name): \(result.err)", sourceLocation: sourceLocation) }
    for (file, text) in leaves { #expect(try folder.text(file) == text, "\(name): \(file)", sourceLocation: sourceLocation) }
    for file in leavesNot { #expect(!folder.exists(file), "\(name): \(file)", sourceLocation: sourceLocation) }
    // Nothing of ours is left behind: not where we spill, and not beside the outputs.
    #expect(folder.isTemporaryEmpty, "\(name)", sourceLocation: sourceLocation)
    let expected = Set(files.keys.map { String($0.prefix { $0 != "/" }) } + leaves.keys.map { String($0.prefix { $0 != "/" }) } + ["tmp"])
    let surplus = Set(folder.names).subtracting(expected).filter { $0.hasPrefix(".") }
    #expect(surplus.isEmpty, "\(name): hidden leftovers", sourceLocation: sourceLocation)
  }
}

/// What a case's error line ends with where rejects are over the budget.
let overBudget = "; --max-rejects N lets the run go on without such records, --rejects FILE keeps them"

/// What it adds where the very first line is no JSON object.
let orCSV = ", --from csv reads CSV"
