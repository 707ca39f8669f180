import Glibc

/// What one process took.
struct Measurement {
  /// Seconds from start to exit.
  var wall: Double
  /// Seconds on all cores, in user and kernel mode.
  var cpu: Double
  /// Largest resident set, of the largest process where there are several.
  var peakInMiB: Double
}

struct BenchmarkError: Error, CustomStringConvertible {
  var description: String
}

/// Runs a command line in `sh`, its output thrown away; what it says on standard error shows only if it fails.
func measure(_ command: String) throws -> Measurement {
  guard let log = tmpfile() else { throw BenchmarkError(description: "no temporary file: \(String(cString: strerror(errno)))") }
  defer { fclose(log) }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
  posix_spawn_file_actions_adddup2(&actions, fileno(log), 2)
  var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup(command), nil]
  defer { for argument in arguments { free(argument) } }
  var process = pid_t()
  let start = now()
  let status = posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ)
  guard status == 0 else { throw BenchmarkError(description: "cannot start sh: \(String(cString: strerror(status)))") }
  var exit: Int32 = 0
  var usage = rusage()
  while wait4(process, &exit, 0, &usage) < 0 {
    guard errno == EINTR else { throw BenchmarkError(description: "wait4: \(String(cString: strerror(errno)))") }
  }
  let wall = now() - start
  guard exit == 0 else {
    var text = [UInt8](repeating: 0, count: 4096)
    let count = max(0, pread(fileno(log), &text, text.count, 0))
    let said = String(decoding: text[..<count], as: UTF8.self).split(separator: "\n").last ?? ""
    let how = exit & 0x7F == 0 ? "exit \(exit >> 8)" : "signal \(exit & 0x7F)"
    throw BenchmarkError(description: "\(how): \(said)")
  }
  func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
  return Measurement(
    wall: wall, cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime), peakInMiB: Double(usage.ru_maxrss) / 1024)
}

private func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
