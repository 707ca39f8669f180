internal import Dispatch
public import OhanaCore
internal import OhanaFormats

/// What a program writes to its standard output: NDJSON or CSV in UTF-8, told by its first bytes. The tool's `--from 'cmd: PROGRAM'`.
///
/// The program is run by `/bin/sh -c` when the first record is wanted, with standard input empty, and its standard error shown. It has to end
/// with status 0: anything else fails the run, so that a program that breaks off half way never passes for one that had no more to say. A run
/// that wants no more of it ends it with SIGTERM.
public struct CommandDataProvider: DataProvider {
  public let identifier: String
  /// As a shell takes it.
  public let command: String

  /// - Parameters:
  ///   - command: as a shell takes it.
  ///   - identifier: `cmd: ` and the command, unless given. To be unique in a data source.
  public init(_ command: String, identifier: String? = nil) {
    self.command = command
    self.identifier = identifier ?? "cmd: \(command)"
  }

  public func open() throws -> ProviderContent { .stream(CommandStream(command, name: FilePath(identifier))) }
}

/// A program's output, from the first read on.
private final class CommandStream: InterruptibleByteStream, @unchecked Sendable {  // because one piece of work at a time reads it
  private let command: String
  private let name: FilePath
  /// Locked, since it may be interrupted while it is read.
  private let running = Locked<(id: pid_t, output: Int32)?>(nil)
  /// Nobody wants any more; touched under the lock of `running`.
  private var isUnwanted = false
  private var isOver = false
  private(set) var inputBytesRead = 0

  init(_ command: String, name: FilePath) { (self.command, self.name) = (command, name) }

  deinit {
    guard let process = running.withLock({ $0 }) else { return }
    close(process.output)
    kill(process.id, SIGTERM)
    // Nobody waits for a program that is slow to end.
    let id = process.id
    Self.reaper.async { while waitpid(id, nil, 0) < 0, errno == EINTR {} }
  }

  private static let reaper = DispatchQueue(label: "ohana.commands", attributes: .concurrent)

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if isOver { return 0 }
    let process = try running.withLock { running in
      if isUnwanted { return running }
      let process = try running ?? start()
      running = process
      return process
    }
    guard let process else { return 0 }
    var count: Int
    repeat { count = OhanaCore.read(process.output, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
    guard count >= 0 else { throw failure("its output cannot be read (error \(errno))") }
    inputBytesRead += count
    if count == 0 { try end(process) }
    return count
  }

  /// The program is told to end, and so its output does.
  func interrupt() {
    running.withLock { running in
      isUnwanted = true
      if let running { kill(running.id, SIGTERM) }
    }
  }

  private func start() throws -> (id: pid_t, output: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure("it cannot be started (error \(errno))") }
    defer { close(ends[1]) }
    // An end that another program held would be open for as long as that one runs.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    // What this process ignores or blocks, a program is not to inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigemptyset(&all)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE] { sigaddset(&all, signal) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var arguments: [UnsafeMutablePointer<CChar>?] = ["sh", "-c", command].map { (word: String) in strdup(word) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var id = pid_t()
    let problem = posix_spawn(&id, "/bin/sh", &actions, &attributes, &arguments, environ)
    guard problem == 0 else {
      close(ends[0])
      throw failure("it cannot be started (error \(problem))")
    }
    return (id, ends[0])
  }

  /// Its output is at its end: so is it, or will be soon.
  private func end(_ process: (id: pid_t, output: Int32)) throws {
    isOver = true
    running.withLock { $0 = nil }
    close(process.output)
    var status: Int32 = 0
    while waitpid(process.id, &status, 0) < 0 {
      guard errno == EINTR else { throw failure("how it ended cannot be told (error \(errno))") }
    }
    let signal = status & 0x7f
    guard status != 0 else { return }
    throw failure(signal == 0 ? "it ended with status \((status >> 8) & 0xff)" : "it was ended by signal \(signal)")
  }

  private func failure(_ problem: String) -> OhanaError {
    OhanaError(.io, "command-failed", at: .init(name), "the program failed: \(problem)", fix: "see what it says itself, and run again")
  }
}
