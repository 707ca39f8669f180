internal import Ohana

/// The system takes half a second to take a file of a gigabyte apart, and the process that closes it last waits for that, whatever it was
/// told. Whoever has interrupted a run should not wait too.
enum LargeFiles {
  /// Lets another process be the last to close the large regular files that are open for writing. It does nothing but wait for the end of
  /// this one, a few hundred milliseconds before its own. Where it cannot be started, this process closes them itself.
  static func leaveClosingToOthers() {
    var end: [Int32] = [-1, -1]
    guard pipe(&end) == 0 else { return }
    // Open until this process ends; the other one must not have it.
    _ = fcntl(end[1], F_SETFD, FD_CLOEXEC)
    defer { close(end[0]) }
    // A duplicate is passed on.
    guard all().map({ dup($0) }).contains(where: { $0 >= 0 }) else { return }
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

  private static func all() -> [Int32] {
    guard let names = try? ("/dev/fd" as FilePath).folderNames() else { return [] }
    return names.compactMap { Int32($0.description) }.filter { descriptor in
      guard descriptor > STDERR_FILENO, fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY,
        let status = fileStatus(descriptor)
      else { return false }
      return status.isRegular && status.st_size >= 32 << 20
    }
  }
}
