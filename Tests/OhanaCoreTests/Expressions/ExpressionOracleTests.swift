import Foundation
import OhanaCore
import OhanaTestSupport
import Testing

/// Random expressions answered by DuckDB; `Oracle/make_expressions.py` made the file.
@Suite("Expressions against DuckDB") struct ExpressionOracleTests {
  struct Oracle {
    var rows: [[TestValue]] = []
    var cases: [(kind: String, row: Int, answer: String, expression: String)] = []
  }
  static let names = ["t", "u", "v", "i", "j", "d", "b"]

  static func load() throws -> Oracle {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Oracle/expressions.tsv")
    var oracle = Oracle()
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map { unescaped(String($0)) }
      if cells[0] == "row" {
        let isMissing = oracle.rows.count % 2 == 0
        let values = line.split(separator: "\t", omittingEmptySubsequences: false).dropFirst(2)
        oracle.rows.append(
          zip(names, values).map { name, cell in
            if cell == "\\N" { return isMissing ? .missing : .null }
            let text = unescaped(String(cell))
            return switch name {
            case "t", "u", "v": .text(text)
            case "b": .bool(text == "true")
            default: .number(text)
            }
          })
      } else {
        oracle.cases.append((cells[0], Int(cells[1])!, cells[2], cells[3]))
      }
    }
    return oracle
  }

  static func unescaped(_ text: String) -> String {
    var result = ""
    var isEscape = false
    for character in text.unicodeScalars {
      if isEscape {
        result.unicodeScalars.append(character == "n" ? "\n" : character == "t" ? "\t" : character)
        isEscape = false
      } else if character == "\\" {
        isEscape = true
      } else {
        result.unicodeScalars.append(character)
      }
    }
    return result
  }

  static func agrees(_ value: TestValue, _ kind: String, _ answer: String) -> Bool {
    switch (kind, value) {
    case ("null", .null): true
    case ("bool", .bool(let flag)): answer == (flag ? "true" : "false")
    case ("text", .text(let text)): text.unicodeScalars.elementsEqual(answer.unicodeScalars)
    case ("number", .number(let text)): text == answer
    case ("double", .number(let text)): Double(text) == Double(answer)
    default: false
    }
  }

  @Test("every answer is the same, record by record and in blocks of records") func replay() throws {
    let oracle = try Self.load()
    #expect(oracle.cases.count >= 4000)
    var wrong = 0
    for (kind, row, answer, expression) in oracle.cases {
      // All rows at once: a block shows whether records influence each other.
      let all = try evaluate(expression, names: Self.names, rows: oracle.rows)
      let alone = try evaluate(expression, names: Self.names, rows: [oracle.rows[row]])[0]
      if all[row] != alone || !Self.agrees(alone, kind, answer) {
        wrong += 1
        if wrong <= 40 { Issue.record("\(expression), row \(row): \(alone) for \(kind) \(answer)") }
      }
    }
    #expect(wrong == 0)
  }
}
