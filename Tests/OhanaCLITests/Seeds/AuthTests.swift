import Foundation
import OhanaTestSupport
import Testing

/// Inputs that may not be read, and who is asked.
@Suite("--on-auth") struct AuthTests {
  /// `b.ndjson` may not be read by whoever ``prefix`` makes the tool run as.
  private func makeFolder() throws -> Workdir {
    let folder = try Workdir()
    for name in ["a", "b", "c"] { try folder.write("\(name).ndjson", "{\"id\":\"\(name)\"}\n") }
    try FileManager.default.createDirectory(atPath: folder.path("tmp"), withIntermediateDirectories: true)
    try #require(chmod(folder.path("tmp"), 0o777) == 0 && chmod(folder.path("b.ndjson"), 0) == 0)
    if geteuid() == 0 {
      let paths = [folder.url.path] + ["a", "b", "c"].map { folder.path("\($0).ndjson") }
      for path in paths { try #require(chown(path, 65534, 65534) == 0) }
    }
    return folder
  }

  /// The superuser may read everything: then somebody else runs it, in a folder of theirs.
  private static let prefix = geteuid() == 0 ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] : []

  private func run(_ folder: Workdir, _ words: String) throws -> Workdir.Result {
    try folder.run([], shell: "\(Self.prefix.joined(separator: " ")) \"$OHANA\" \(words)")
  }

  @Test("AUTH O-29 O-30: --on-auth skip leaves out what may not be read, and only that, told of as a provider that failed") func skip()
    throws
  {
    for threads in [1, 2, 8] {
      let folder = try makeFolder()
      let result = try run(
        folder, "run a.ndjson b.ndjson c.ndjson -o out.ndjson --on-auth skip --report r.json --overwrite --threads \(threads)")
      #expect(result.status == 4, "\(result.err)")
      #expect(try folder.text("out.ndjson") == "{\"id\":\"a\"}\n{\"id\":\"c\"}\n")
      #expect(result.err.contains("left out, since it cannot be read: b.ndjson: cannot open: permission denied"), "\(result.err)")
      #expect(try folder.text("r.json").contains("\"name\" : \"b.ndjson\",\n      \"status\" : \"error\""))
      let absent = try run(folder, "run a.ndjson b.ndjson absent.ndjson -o none.ndjson --on-auth skip")
      #expect(absent.status == 4 && !folder.exists("none.ndjson") && absent.err.contains("absent.ndjson: cannot open"), "\(absent.err)")
      #expect(try run(folder, "count b.ndjson --on-auth skip").status == 4)
    }
  }

  @Test("AUTH O-29 O-30: --on-auth fail is what happens without it, and outranks --on-provider-error") func fail() throws {
    let folder = try makeFolder()
    for options in ["", "--on-auth fail", "--on-auth fail --on-provider-error skip"] {
      let result = try run(folder, "run a.ndjson b.ndjson absent-*.ndjson c.ndjson -o out.ndjson --report r.json --overwrite \(options)")
      #expect(result.status == 4 && !folder.exists("out.ndjson"), "\(result.err)")
      #expect(result.err.split(separator: "\n").count == 1, "\(result.err)")
      #expect(options.hasSuffix("skip") == result.err.contains("b.ndjson: cannot open: permission denied"), "\(result.err)")
    }
    let result = try run(folder, "run a.ndjson b.ndjson c.ndjson -o out.ndjson --report r.json --overwrite")
    #expect(result.status == 4)
    let statuses = try folder.text("r.json").matches(of: /"status" : "(\w+)"/).map { String($0.output.1) }
    #expect(statuses == ["initialized", "error", "initialized"], "all are looked at before anything is read")
    #expect(try run(folder, "run a.ndjson b.ndjson -o out.ndjson --on-provider-error skip").status == 4)
    #expect(try folder.text("out.ndjson") == "{\"id\":\"a\"}\n")
    #expect(try run(folder, "run a.ndjson --on-auth perhaps").status == 2)
    #expect(try run(folder, "diff a.ndjson c.ndjson --by id --on-auth skip").status == 2)
  }

  @Test("AUTH O-23 O-29: where nobody can be asked, --on-auth ask fails and says so; where nothing has to be asked, it does not matter")
  func nobody() throws {
    let folder = try makeFolder()
    let result = try run(folder, "run a.ndjson b.ndjson -o out.ndjson --on-auth ask")
    #expect(result.status == 4 && !folder.exists("out.ndjson"))
    #expect(result.err.contains("b.ndjson: cannot open: permission denied; there is nobody to ask"), "\(result.err)")
    #expect(try run(folder, "count a.ndjson c.ndjson --on-auth ask").text == "2\n")
    #expect(try run(folder, "count a.ndjson b.ndjson --on-auth ask --on-provider-error skip").text == "1\n")
  }

  struct Answer: Sendable, CustomTestStringConvertible {
    let text: String
    /// The permission is mended before the answer.
    var mends = true
    var options: [String] = []
    let status: Int32
    let out: String?
    /// At the end of what is told.
    let said: String
    var testDescription: String { "\(text.debugDescription) \(mends) \(options)" }
  }
  static let answers = [
    Answer(text: "y\n", status: 0, out: "abc", said: "wrote 3"),
    Answer(text: "Yes\n", status: 0, out: "abc", said: "wrote 3"),
    // It is not asked twice.
    Answer(text: "y\n", mends: false, status: 4, out: nil, said: "b.ndjson: cannot open: permission denied; check the access rights"),
    Answer(text: "n\n", status: 4, out: nil, said: "b.ndjson: cannot open: permission denied; access was refused"),
    Answer(text: "\n", status: 4, out: nil, said: "access was refused"),
    // The end of standard input.
    Answer(text: "\u{4}", status: 4, out: nil, said: "access was refused"),
    Answer(text: "n\n", mends: false, options: ["--on-provider-error", "skip"], status: 4, out: "ac", said: "b.ndjson: cannot open"),
  ]

  @Test("AUTH O-23 O-29: on a terminal --on-auth ask asks once for each input: consent tries again, refusal fails", arguments: answers)
  func ask(_ answer: Answer) throws {
    let folder = try makeFolder()
    let (terminal, device) = try openTerminal()
    defer { close(terminal) }
    let words = Self.prefix + [Tool.url.path, "run", "a.ndjson", "b.ndjson", "c.ndjson", "-o", "out.ndjson", "--on-auth", "ask"]
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words + answer.options
    process.currentDirectoryURL = folder.url
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path("tmp"), "NO_COLOR": "1"]) { $1 }
    let handle = FileHandle(fileDescriptor: device, closeOnDealloc: false)
    (process.standardInput, process.standardOutput, process.standardError) = (handle, FileHandle.nullDevice, handle)
    try process.run()
    close(device)
    var told = ""
    var hasAnswered = false
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(terminal, &buffer, buffer.count)
      if count <= 0 { break }
      told += String(decoding: buffer[..<count], as: UTF8.self)
      guard told.contains("[y/N] "), !hasAnswered else { continue }
      hasAnswered = true
      #expect(told.contains("ohana: b.ndjson: cannot open: permission denied") && !folder.exists("out.ndjson"))
      if answer.mends { try #require(chmod(folder.path("b.ndjson"), 0o600) == 0) }
      let bytes = Array(answer.text.utf8)
      try #require(write(terminal, bytes, bytes.count) == bytes.count)
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == answer.status, "\(told)")
    #expect(told.components(separatedBy: "[y/N]").count == 2 && told.contains(answer.said), "\(told)")
    let out = folder.exists("out.ndjson") ? try folder.text("out.ndjson") : nil
    #expect(out == answer.out.map { $0.map { "{\"id\":\"\($0)\"}\n" }.joined() })
  }

  /// A pseudo-terminal, as pty(7) and ioctl_tty(2) have it: whoever looks at the screen, and the device.
  private func openTerminal() throws -> (Int32, Int32) {
    let (lockRequest, numberRequest): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (locks, number): (Int32, Int32) = (0, 0)
    try #require(terminal >= 0)
    try #require(ioctl(terminal, lockRequest, &locks) == 0)
    try #require(ioctl(terminal, numberRequest, &number) == 0)
    let device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    try #require(device >= 0)
    return (terminal, device)
  }
}
