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

/// Runs a command line in `sh`, its output thrown away.
func measure(_ command: String) throws -> Measurement {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
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
  guard exit == 0 else { throw BenchmarkError(description: "exit \(exit >> 8): \(command)") }
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
