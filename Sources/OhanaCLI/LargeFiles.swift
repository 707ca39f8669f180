internal import Ohana

/// The system takes half a second to take a file of a gigabyte apart, and the process that closes it last waits for that, whatever it was
/// told. Whoever has interrupted a run should not wait too.
enum LargeFiles {
  /// Files of fewer bytes together are not worth another process.
  private static let leastBytes: Int64 = 256 << 20

  /// Lets another process be the last to close the large regular files that are open for writing. It does nothing but wait for the end of
  /// this one, a few hundred milliseconds before its own; that long their file system is in use. Where it cannot be started, this process
  /// closes them itself. For a process that is about to end: what it has open is not for others any more.
  static func leaveClosingToOthers() {
    let files = all()
    var end: [Int32] = [-1, -1]
    guard files.reduce(0, { $0 + $1.size }) >= leastBytes, pipe(&end) == 0 else { return }
    // The pipe's other end is open until this process ends; the other one must not have it, nor anything else.
    defer { close(end[0]) }
    for descriptor in descriptors() where descriptor > STDERR_FILENO { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    // A duplicate is passed on.
    guard files.map({ dup($0.descriptor) }).contains(where: { $0 >= 0 }) else { return }
    var actions = posix_spawn_file_actions_t()
    guard posix_spawn_file_actions_init(&actions) == 0 else { return }
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, end[0], STDIN_FILENO)
    for output in [STDOUT_FILENO, STDERR_FILENO] { posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0) }
    var words: [UnsafeMutablePointer<CChar>?] = ["sh", "-c", "cd /; read -r end"].map { (word: String) in strdup(word) } + [nil]
    defer { for word in words { free(word) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var process: pid_t = 0
    _ = posix_spawn(&process, "/bin/sh", &actions, nil, &words, &environment)
  }

  private static func all() -> [(descriptor: Int32, size: Int64)] {
    descriptors().compactMap { descriptor in
      guard descriptor > STDERR_FILENO, fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY,
        let status = fileStatus(descriptor), status.isRegular, status.st_size >= 1 << 20
      else { return nil }
      return (descriptor, Int64(status.st_size))
    }
  }

  private static func descriptors() -> [Int32] {
    ((try? ("/dev/fd" as FilePath).folderNames()) ?? []).compactMap { Int32($0.description) }
  }
}
