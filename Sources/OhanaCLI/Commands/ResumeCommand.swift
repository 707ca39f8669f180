internal import Ohana
internal import Synchronization

/// `ohana resume OUTPUT`: the command that was ended before it had published OUTPUT, once more with `--resume`.
enum ResumeCommand {
  static func run(_ words: inout ArgumentWords) async throws -> Int32 {
    guard let output = words.take() else {
      throw OhanaError(.usage, "missing-output", "there is nothing to resume", fix: "ohana resume OUTPUT")
    }
    if let surplus = words.take() {
      throw OhanaError(.usage, "surplus-argument", "'\(surplus)' is not expected here", fix: "ohana resume OUTPUT")
    }
    guard let (arguments, directory) = try RunSession.leftover(at: output), let verb = arguments.first, verb != "resume" else {
      throw OhanaError(
        .usage, "nothing-to-resume", at: .init(output), "no run to this output was ended before its time", fix: "give the whole command")
    }
    guard directory.withCString({ chdir($0) }) == 0 else { throw OhanaError.system(errno, "go back to", directory) }
    let options = arguments.dropFirst().prefix { $0 != "then" }
    return await OhanaTool.run([verb] + (options.contains("--resume") ? [] : ["--resume"]) + arguments.dropFirst())
  }
}

/// The words of the command that is being run, for `ohana resume`.
enum CommandLineWords {
  private static let words = Mutex<[FilePath]>([])
  static var current: [FilePath] {
    get { words.withLock { $0 } }
    set { words.withLock { $0 = newValue } }
  }
}
