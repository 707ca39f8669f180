import Foundation
import OhanaTestSupport
import Testing

/// A file layer that fails: a library in front of the system's, which lets the n-th call that needs space on a disk fail, and those behind
/// it too, or only that one. With `KILL_AT` it kills the process in front of its n-th rename(2), with
/// `KILL_REMOVING` in front of the n-th unlink(2) or rmdir(2), with `KILL_LOCK` in front of the n-th write or cut of a lock. With
/// `NO_FLOCK` there are no locks.
/// `FAIL_RENAME` lets the n-th rename, and those behind it, fail. With `FAULT_LOG` it also writes down what was done to which file: `c` made, `w` written, `j` a checkpoint
/// entered into a journal, `s` synced.
enum FailingFiles {
  static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <signal.h>
    #include <stdarg.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <sys/syscall.h>
    #include <sys/types.h>
    #include <unistd.h>

    static long calls;

    static int fails(void) {
      const char *at = getenv("FAULT_AT");
      if (!at) return 0;
      long call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
      int isDue = getenv("FAULT_ONCE") ? call == atol(at) : call >= atol(at);
      if (isDue) errno = ENOSPC;
      return isDue;
    }
    static void tell(char what, int descriptor) {
      static int log = -1;
      const char *name = getenv("FAULT_LOG");
      if (!name) return;
      int error = errno;
      char link[40], line[4200] = {what, ' '};
      snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
      long length = readlink(link, line + 2, 4096);
      if (log < 0) log = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
      if (length > 0) {
        line[length + 2] = '\\n';
        syscall(SYS_write, log, line, length + 3);
      }
      errno = error;
    }
    static int failsReading(int descriptor) {
      static long reads;
      const char *name = getenv("READ_NAME");
      if (!name) return 0;
      int error = errno;
      char link[40], path[4200];
      snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
      long length = readlink(link, path, 4199);
      errno = error;
      if (length <= 0) return 0;
      path[length] = 0;
      if (!strstr(path, name)) return 0;
      long call = __atomic_add_fetch(&reads, 1, __ATOMIC_SEQ_CST), first = atol(getenv("READ_AT"));
      if (call < first || call >= first + atol(getenv("READ_TIMES"))) return 0;
      // Where a failed read leaves the file nobody says.
      lseek(descriptor, 3, SEEK_CUR);
      errno = atoi(getenv("READ_ERRNO"));
      return 1;
    }
    ssize_t read(int descriptor, void *bytes, size_t count) {
      if (failsReading(descriptor)) return -1;
      return ((ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read"))(descriptor, bytes, count);
    }
    static int isFile(int descriptor) {
      struct stat status;
      return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    }

    int flock(int descriptor, int operation) {
      if (getenv("NO_FLOCK")) {
        errno = ENOLCK;
        return -1;
      }
      return syscall(SYS_flock, descriptor, operation);
    }
    static void killsLock(int descriptor) {
      static long calls;
      const char *at = getenv("KILL_LOCK");
      if (!at) return;
      char link[40], path[4200];
      snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
      long length = readlink(link, path, 4199);
      if (length < 11 || memcmp(path + length - 11, ".ohana-lock", 11) != 0) return;
      if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == atol(at)) raise(SIGKILL);
    }
    int ftruncate(int descriptor, off_t length) {
      killsLock(descriptor);
      return ((int (*)(int, off_t))dlsym(RTLD_NEXT, "ftruncate"))(descriptor, length);
    }
    ssize_t write(int descriptor, const void *bytes, size_t count) {
      killsLock(descriptor);
      if (isFile(descriptor) && fails()) return -1;
      ssize_t sent = ((ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(descriptor, bytes, count);
      if (sent > 0 && isFile(descriptor)) tell(memmem(bytes, count, "checkpoint", 10) && memmem(bytes, count, "checksum", 8) ? 'j' : 'w', descriptor);
      return sent;
    }
    int fsync(int descriptor) {
      if (isFile(descriptor) && fails()) return -1;
      int result = ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
      if (result == 0) tell('s', descriptor);
      return result;
    }
    int fdatasync(int descriptor) {
      if (isFile(descriptor) && fails()) return -1;
      int result = ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(descriptor);
      if (result == 0) tell('s', descriptor);
      return result;
    }
    int rename(const char *from, const char *to) {
      static long renames;
      const char *at = getenv("KILL_AT");
      const char *failing = getenv("FAIL_RENAME");
      if (failing && __atomic_add_fetch(&renames, 1, __ATOMIC_SEQ_CST) >= atol(failing)) {
        errno = EACCES;
        return -1;
      }
      if (at && __atomic_add_fetch(&renames, 1, __ATOMIC_SEQ_CST) == atol(at)) raise(SIGKILL);
      return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
    }
    static void killsRemoving(void) {
      static long removals;
      const char *at = getenv("KILL_REMOVING");
      if (at && __atomic_add_fetch(&removals, 1, __ATOMIC_SEQ_CST) == atol(at)) raise(SIGKILL);
    }
    int unlink(const char *path) {
      killsRemoving();
      return ((int (*)(const char *))dlsym(RTLD_NEXT, "unlink"))(path);
    }
    int rmdir(const char *path) {
      killsRemoving();
      return ((int (*)(const char *))dlsym(RTLD_NEXT, "rmdir"))(path);
    }
    int mkdir(const char *path, mode_t mode) {
      if (fails()) return -1;
      return ((int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir"))(path, mode);
    }
    #define OPEN(name)                                                                             \\
      int name(const char *path, int flags, ...) {                                                 \\
        va_list list;                                                                              \\
        va_start(list, flags);                                                                     \\
        mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;                                  \\
        va_end(list);                                                                              \\
        if (flags & O_CREAT && fails()) return -1;                                                 \\
        int file = ((int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, #name))(path, flags, mode); \\
        if (file >= 0 && flags & O_CREAT) tell('c', file);                                         \\
        return file;                                                                               \\
      }
    OPEN(open)
    OPEN(open64)
    """

  /// The library; nil where there is no C compiler.
  static let library: String? = {
    let folder = FileManager.default.temporaryDirectory.appending(path: "ohana-faults-\(getpid())")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let code = folder.appending(path: "faults.c")
    try? Data(source.utf8).write(to: code)
    let library = folder.appending(path: "faults.so").path
    for compiler in ["cc", "clang", "gcc"] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [compiler, "-shared", "-fPIC", "-o", library, code.path, "-ldl"]
      process.standardError = FileHandle.nullDevice
      if (try? process.run()) == nil { continue }
      process.waitUntilExit()
      if process.terminationStatus == 0 { return library }
    }
    return nil
  }()
}

@Suite("A full disk") struct DiskFullTests {
  struct Job: Sendable, CustomTestStringConvertible {
    let name: String
    let arguments: [String]
    var testDescription: String { name }
  }
  static let jobs = [
    Job(
      name: "a sort that spills, with a tee and a manifest",
      arguments: [
        "run", "in.ndjson", "-o", "out.ndjson.gz", "--overwrite", "--memory", "16M", "--manifest", "set.json", "then", "tee", "side.csv",
        "then", "sort", "last,first",
      ]),
    Job(
      name: "chunks, duplicates and rejects",
      arguments: [
        "run", "in.ndjson", "in.bad", "-o", "out-{n}.csv", "--chunk-records", "9000", "--overwrite", "--rejects", "bad.ndjson",
        "--max-rejects",
        "9", "--from", "ndjson",
        "then", "dedupe", "--by", "email", "--duplicates", "others.ndjson",
      ]),
  ]

  private func outputs(_ workdir: Workdir) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in workdir.names where name != "tmp" && !name.hasPrefix("in.") { found[name] = try workdir.read(name) }
    return found
  }

  /// Manifests hold times, which differ.
  private func isSame(_ a: [String: Data], _ b: [String: Data]) -> Bool {
    Set(a.keys) == Set(b.keys) && a.allSatisfy { $0 == "set.json" || $1 == b[$0] }
  }

  @Test(
    "from any write on: exit 4, one line, the old outputs, and nothing temporary",
    .enabled(if: FailingFiles.library != nil, "there is no C compiler to make the failing file layer with"), arguments: jobs)
  func failsFromAnyCallOn(job: Job) throws {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "30000", "-o", "in.ndjson"]).status == 0)
    try workdir.write("in.bad", "{\"id\":1}\nbad\n{\"id\":2\n")
    #expect(try workdir.run(job.arguments).status == 0)
    let wanted = try outputs(workdir)
    for name in wanted.keys { try workdir.write(name, "old\n") }
    let old = try outputs(workdir)
    var failures = 0
    var call = 1
    while true {
      let result = try workdir.run(
        job.arguments, environment: ["LD_PRELOAD": FailingFiles.library!, "FAULT_AT": "\(call)"])
      #expect(workdir.isTemporaryEmpty, "call \(call)")
      if result.status == 0 { break }
      failures += 1
      #expect(result.status == 4, "call \(call): \(result.err)")
      #expect(result.err.contains("no space left"), "call \(call): \(result.err)")
      #expect(result.err.split(separator: "\n").count == 1, "call \(call): \(result.err)")
      var now = try outputs(workdir)
      // Rejects are published for failed runs too, where there is room.
      if now["bad.ndjson"] == wanted["bad.ndjson"] { now["bad.ndjson"] = old["bad.ndjson"] }
      #expect(now == old, "call \(call): \(now.keys.sorted())")
      call += call < 24 ? 1 : 23
      try #require(call < 3000)
    }
    #expect(failures > 10)
    #expect(isSame(try outputs(workdir), wanted))
  }

  @Test(
    "at one write only: exit 4 and the old outputs, or exit 0 and the new ones",
    .enabled(if: FailingFiles.library != nil, "there is no C compiler to make the failing file layer with"), arguments: jobs)
  func failsOnce(job: Job) throws {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "30000", "-o", "in.ndjson"]).status == 0)
    try workdir.write("in.bad", "{\"id\":1}\nbad\n{\"id\":2\n")
    #expect(try workdir.run(job.arguments).status == 0)
    let wanted = try outputs(workdir)
    var statuses: Set<Int32> = []
    for call in Array(1...30) + stride(from: 31, to: 90, by: 7) {
      for name in wanted.keys { try workdir.write(name, "old\n") }
      let old = try outputs(workdir)
      let result = try workdir.run(
        job.arguments, environment: ["LD_PRELOAD": FailingFiles.library!, "FAULT_AT": "\(call)", "FAULT_ONCE": "1"])
      statuses.insert(result.status)
      var now = try outputs(workdir)
      // Rejects so far are published for failed runs too, unless it is they that could not be written.
      if result.status != 0, !result.err.contains("bad.ndjson"), let bad = now["bad.ndjson"], wanted["bad.ndjson"]!.starts(with: bad) {
        now["bad.ndjson"] = old["bad.ndjson"]
      }
      #expect(result.status == 0 ? isSame(now, wanted) : result.status == 4 && now == old, "call \(call): \(result.err)")
      #expect(workdir.isTemporaryEmpty, "call \(call)")
    }
    #expect(statuses.contains(4))
  }

  @Test("a full disk: the report tells of it from the same disk, whatever had filled it", arguments: ["json", "md", "html", "prom"])
  func reportOnFullDisk(kind: String) throws {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "30000", "-o", "in.ndjson"]).status == 0)
    let script = """
      mkdir -p small && mount -t tmpfs -o size=1m tmpfs small 2>/dev/null || exit 77
      head -c 20000 /dev/zero > small/report.\(kind)
      $OHANA run in.ndjson -o small/out.ndjson --overwrite --report small/report.\(kind) --temp-dir small then sort last; echo "exit $?"
      ls -A small; tr -d "\\000" < small/report.\(kind)
      """
    let result = try workdir.run([], shell: "unshare --mount bash -c '\(script)'")
    if result.status == 77 || result.err.contains("unshare") {
      print("SKIPPED: a small disk cannot be mounted here (needs root)")
      return
    }
    #expect(Array(result.lines.prefix(2)) == ["exit 4", "report.\(kind)"], "\(result.text) \(result.err)")
    #expect(result.lines.count > 4 && !result.err.contains("not written either"), "\(result.text) \(result.err)")
  }

  @Test("a small disk: one line that says how much is missing, and nothing left on it") func smallDisk() throws {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "30000", "-o", "in.ndjson"]).status == 0)
    let script = """
      mkdir -p small && mount -t tmpfs -o size=1m tmpfs small 2>/dev/null || exit 77
      echo old > small/out.ndjson
      $OHANA run in.ndjson -o small/out.ndjson --overwrite; echo "exit $?"
      $OHANA run in.ndjson -o out.ndjson --memory 16M --temp-dir small then sort last; echo "exit $?"
      ls -A small; cat small/out.ndjson
      """
    let result = try workdir.run([], shell: "unshare --mount bash -c '\(script)'")
    if result.status == 77 || result.err.contains("unshare") {
      print("SKIPPED: a small disk cannot be mounted here (needs root)")
      return
    }
    #expect(result.lines == ["exit 4", "exit 4", "out.ndjson", "old"], "\(result.text) \(result.err)")
    // That the small disk lies in memory is told too, in a note.
    let messages = result.err.split(separator: "\n").filter { !$0.hasPrefix("note: ") }
    #expect(messages.count == 2)
    for message in messages { #expect(message.contains("bytes to write") && message.contains("free"), "\(message)") }
  }
}
