public import Foundation

/// A folder of its own for one test, and the `ohana` binary run in it from outside.
public final class Workdir {
  public let url: URL

  public init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "ohana-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }

  public func path(_ name: String) -> String { url.appending(path: name).path }

  public func write(_ name: String, _ data: Data) throws {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
  }
  public func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }
  public func read(_ name: String) throws -> Data { try Data(contentsOf: url.appending(path: name)) }
  public func text(_ name: String) throws -> String { String(decoding: try read(name), as: UTF8.self) }
  public func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
  /// Names of everything in the folder, hidden files too, sorted.
  public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

  public struct Result: Sendable {
    public var status: Int32
    public var out: Data
    public var err: String
    public var text: String { String(decoding: out, as: UTF8.self) }
    public var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) }
  }

  /// Runs `ohana` with the folder as its working directory; `TMPDIR` is `tmp` in it, so that leftovers show.
  ///
  /// - Parameters:
  ///   - input: standard input.
  ///   - shell: runs `sh -c` instead, with `$OHANA` for the binary.
  @discardableResult
  public func run(_ arguments: [String], input: Data? = nil, environment: [String: String] = [:], shell: String? = nil) throws -> Result {
    let process = Process()
    process.executableURL = shell == nil ? Tool.url : URL(filePath: "/bin/bash")
    process.arguments = shell.map { ["-c", $0] } ?? arguments
    process.currentDirectoryURL = url
    let temporary = path("tmp")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    var all = ProcessInfo.processInfo.environment
    all["TMPDIR"] = temporary
    all["OHANA"] = Tool.url.path
    all.merge(environment) { $1 }
    process.environment = all
    let outFile = url.appending(path: ".stdout")
    let errFile = url.appending(path: ".stderr")
    _ = FileManager.default.createFile(atPath: outFile.path, contents: nil)
    _ = FileManager.default.createFile(atPath: errFile.path, contents: nil)
    process.standardOutput = try FileHandle(forWritingTo: outFile)
    process.standardError = try FileHandle(forWritingTo: errFile)
    if let input {
      let inFile = url.appending(path: ".stdin")
      try input.write(to: inFile)
      process.standardInput = try FileHandle(forReadingFrom: inFile)
    } else {
      process.standardInput = FileHandle.nullDevice
    }
    try process.run()
    process.waitUntilExit()
    let result = Result(
      status: process.terminationStatus, out: try Data(contentsOf: outFile),
      err: String(decoding: try Data(contentsOf: errFile), as: UTF8.self))
    for file in [".stdout", ".stderr", ".stdin"] { try? FileManager.default.removeItem(at: url.appending(path: file)) }
    return result
  }

  /// Whether nothing temporary is left behind.
  public var isTemporaryEmpty: Bool { ((try? FileManager.default.contentsOfDirectory(atPath: path("tmp"))) ?? []).isEmpty }
}

public enum Tool {
  /// The binary built beside the test bundle. Signals that are ignored here, by a script that runs the tests behind `&` or by an observer
  /// of a test, are not by what is run next.
  public static var url: URL {
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
    return binary
  }

  private static let binary: URL = {
    let tests = URL(filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0])
    var folder = tests.deletingLastPathComponent()
    for _ in 0..<4 {
      let candidate = folder.appending(path: "ohana")
      if FileManager.default.isExecutableFile(atPath: candidate.path), !candidate.hasDirectoryPath { return candidate }
      folder = folder.deletingLastPathComponent()
    }
    return tests.deletingLastPathComponent().appending(path: "ohana")
  }()
}

/// Third-party data, where the environment says it is.
public enum TestData {
  public static let folder: URL? = ProcessInfo.processInfo.environment["OHANA_TEST_DATA"].map { URL(filePath: $0) }
  public static let cases: URL? = ProcessInfo.processInfo.environment["OHANA_TEST_CASES"].map { URL(filePath: $0) }
}
