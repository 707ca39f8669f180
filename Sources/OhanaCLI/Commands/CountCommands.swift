internal import Ohana

/// `ohana count INPUT…`
enum CountCommand {
  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    let session = RunSession(try PlainCommand.parse(&words).request)
    let outcome = await session.execute(RunManager(), purpose: .count)
    let status = session.status(outcome)
    if outcome.error == nil, outcome.signal == nil { Terminal.print(String(outcome.books.written)) }
    return status
  }
}

/// `ohana check INPUT…`: 0 if all can be read, 1 if not.
enum CheckCommand {
  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    let session = RunSession(try PlainCommand.parse(&words).request)
    let outcome = await session.execute(RunManager(), purpose: .check)
    if outcome.signal != nil { return session.status(outcome) }
    // A broken chunk is an answer, not a failure.
    if let error = outcome.error, error.category != .badInput { return Terminal.report(error) }
    for line in report(outcome.books) { Terminal.print(line) }
    let isWhole = outcome.books.rejected == 0 && outcome.books.inputs.allSatisfy { $0.fault == nil } && outcome.error == nil
    return isWhole ? 0 : 1
  }

  static func report(_ books: RunBooks) -> [String] {
    var lines: [String] = []
    for input in books.inputs {
      var parts = ["\(Quantity.grouped(input.read - input.rejected)) records"]
      if input.rejected > 0 { parts.append("\(Quantity.grouped(input.rejected)) unreadable") }
      if input.blankLines > 0 { parts.append("\(Quantity.grouped(input.blankLines)) blank lines") }
      for (code, count) in input.warnings.sorted(by: { $0.key < $1.key }) { parts.append("\(Quantity.grouped(count)) \(code)") }
      lines.append("\(input.name): " + parts.joined(separator: ", "))
      if let fault = input.fault { lines.append("  \(fault)") }
    }
    for place in books.firstRejects { lines.append("  \(place)") }
    if books.rejected > books.firstRejects.count {
      lines.append("  … and \(Quantity.grouped(books.rejected - books.firstRejects.count)) more")
    }
    return lines
  }
}
