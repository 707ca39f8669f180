internal import Ohana

/// `ohana count INPUT…`
enum CountCommand {
  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    let request = try PlainCommand.parse(&words).request
    try PlainCommand.refuseOutput(request, of: "count")
    let run = ConsoleRun(request)
    let state = await run.execute(.count)
    let status = run.status(state)
    if status == 0 || state.isWithoutInputs { Terminal.print(String(state.books.written)) }
    return status
  }
}

/// `ohana check INPUT…`: 0 if all can be read, 1 if not.
enum CheckCommand {
  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    let request = try PlainCommand.parse(&words).request
    try PlainCommand.refuseOutput(request, of: "check")
    if let manifest = request.options.manifest {
      if let input = request.inputs.first {
        throw OhanaError(.usage, "surplus-argument", "'\(input)' is not expected here", fix: "ohana check --manifest FILE, or check INPUT…")
      }
      let (lines, isWhole) = try RunSession.check(manifest: manifest)
      for line in lines { Terminal.print(line) }
      return isWhole ? 0 : 1
    }
    let run = ConsoleRun(request)
    let state = await run.execute(.check)
    // A broken chunk is an answer, not a failure.
    if state.isInterrupted || state.failure.map({ $0.category != .badInput }) ?? false, !state.isWithoutInputs { return run.status(state) }
    for line in report(state.books) { Terminal.print(line) }
    if state.isWithoutInputs { return run.status(state) }
    let isWhole = state.books.rejected == 0 && state.books.inputs.allSatisfy { $0.fault == nil } && state.failure == nil
    return isWhole ? 0 : 1
  }

  static func report(_ books: RunBooks) -> [String] {
    var lines: [String] = []
    for input in books.inputs {
      let whole = input.read - input.rejected
      var parts = ["\(Quantity.grouped(whole)) record\(whole == 1 ? "" : "s")"]
      if input.rejected > 0 { parts.append("\(Quantity.grouped(input.rejected)) unreadable") }
      if input.blankLines > 0 { parts.append("\(Quantity.grouped(input.blankLines)) blank line\(input.blankLines == 1 ? "" : "s")") }
      for (code, count) in input.warnings.sorted(by: { $0.key < $1.key }) {
        parts.append("\(Quantity.grouped(count)) \(code)" + (input.firstWarningLines[code].map { " (first in line \($0))" } ?? ""))
      }
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

extension RunState {
  /// It came to its end without inputs that cannot be read (`--on-provider-error skip`).
  fileprivate var isWithoutInputs: Bool { phase == .published && failure?.category == .io }
}
