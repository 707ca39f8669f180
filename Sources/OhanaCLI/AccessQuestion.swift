internal import Dispatch
internal import Ohana

/// `--on-auth ask`: a person is asked on standard error, and answers on standard input.
enum AccessQuestion {
  /// nil where nobody can be asked: one of the two is no terminal, or standard input is an input.
  static func asker(for request: RunRequest) -> (@Sendable (OhanaError, AccessRetry) -> Void)? {
    guard isatty(STDIN_FILENO) == 1, Terminal.isErrorTerminal else { return nil }
    let names: [FilePath] = ["-", "/dev/stdin", "/dev/fd/0"]
    guard !request.inputs.contains(where: names.contains), !(request.filesFrom.map(names.contains) ?? false) else { return nil }
    return { error, retry in
      // A person takes the time it takes.
      DispatchQueue.global().async { if isConsent(to: error) { retry() } else { retry.refuse() } }
    }
  }

  /// A person has been asked, and is to see that.
  static var isOpen: Bool { open.value }
  private static let open = Locked(false)

  private static func isConsent(to error: OhanaError) -> Bool {
    var question = error
    question.fix = ""
    ProgressLine.makeRoom()
    open.value = true
    defer { open.value = false }
    Terminal.raw("ohana: \(question.description)\nTry again, once it may be read? [y/N] ")
    // The end of standard input is no consent.
    let answer = readLine() ?? ""
    return ["y", "yes"].contains(answer.lowercased())
  }
}
