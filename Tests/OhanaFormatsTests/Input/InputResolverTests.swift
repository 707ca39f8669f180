import Foundation
import OhanaCore
import OhanaFormats
import Testing

@Suite("resolving inputs") struct InputResolverTests {
  let folder = TemporaryFolder()

  private func make(_ names: FilePath...) { for name in names { folder.write(name, [1, 2]) } }
  private func makeFolder(_ name: FilePath) { _ = folder.path.appending(name).withCString { mkdir($0, 0o700) } }
  private func path(_ name: FilePath) -> FilePath { name == "-" || name.bytes.first == 47 ? name : folder.path.appending(name) }

  /// Names below the folder that `arguments` resolve to.
  private func resolve(_ arguments: FilePath..., list: FilePath? = nil) throws -> [FilePath] {
    try InputResolver.resolve(arguments.map(path), filesFrom: list.map(path)).map {
      FilePath(bytes: $0.bytes.starts(with: folder.path.bytes) ? Array($0.bytes.dropFirst(folder.path.bytes.count + 1)) : $0.bytes)
    }
  }
  private func fails(_ code: String, _ category: OhanaError.Category, naming name: FilePath?, _ body: () throws -> [FilePath]) {
    let error = #expect(throws: OhanaError.self) { try body() }
    #expect(error?.code == code)
    #expect(error?.category == category)
    if let name { #expect(error?.location?.source == path(name)) }
  }

  @Test("arguments keep their order, patterns and folders come in byte order") func order() throws {
    makeFolder("d")
    makeFolder("d/below")
    make("b.gz", "a.gz", "Z.gz", "é.gz", ".hidden.gz", "d/2", "d/10", "d/.x", "d/below/no")
    #expect(try resolve("b.gz", "a.gz") == ["b.gz", "a.gz"])
    #expect(try resolve("*.gz") == ["Z.gz", "a.gz", "b.gz", "é.gz"])
    #expect(try resolve("d") == ["d/10", "d/2"])
    #expect(try resolve("d/") == ["d/10", "d/2"])
    #expect(try resolve("d/*") == ["d/10", "d/2"])
    #expect(try resolve("?.gz", "d", "-") == ["Z.gz", "a.gz", "b.gz", "d/10", "d/2", "-"])
    #expect(try resolve("[ab].gz") == ["a.gz", "b.gz"])
    #expect(try resolve("d*/*") == ["d/10", "d/2"])
  }

  @Test("hidden files are never found, but may be named") func hidden() throws {
    make(".h1", ".h2", "x")
    #expect(try resolve(".h1") == [".h1"])
    fails("no-files", .io, naming: ".h*") { try resolve(".h*") }
  }

  @Test("the same path is read once, also in another spelling") func once() throws {
    makeFolder("d")
    make("a", "d/b")
    #expect(try resolve("a", "a", "./a", "d/../a", "*", "d", "d//b", "./d/b", "-", "-") == ["a", "d/../a", "d/b", "-"])
  }

  @Test("a file whose name looks like a pattern is that file") func literal() throws {
    make("a[1].gz", "a1.gz", "x*")
    #expect(try resolve("a[1].gz") == ["a[1].gz"])
    #expect(try resolve("x*") == ["x*"])
  }

  @Test("names are bytes") func bytes() throws {
    let odd = FilePath(bytes: [0xff, 0x0a, 0x41])
    make(odd, "b")
    #expect(try resolve("*") == ["b", odd])
    #expect(try resolve(odd) == [odd])
    folder.write("list", odd.bytes.isEmpty ? [] : path(odd).bytes + [0] + path("b").bytes + [0])
    #expect(try resolve(list: "list") == [odd, "b"])
  }

  @Test("lists hold one path a line, or NULs; no patterns") func lists() throws {
    makeFolder("d")
    make("a", "b c", "d/x")
    func list(_ text: String) -> FilePath {
      folder.write("list", Array(text.replacingOccurrences(of: "@", with: folder.path.description + "/").utf8))
      return "list"
    }
    #expect(try resolve(list: list("@b c\n@a\n")) == ["b c", "a"])
    #expect(try resolve("a", list: list("\n@b c\n\n@a")) == ["a", "b c"])
    #expect(try resolve(list: list("@b c\r\n@a\r\n")) == ["b c", "a"])
    #expect(try resolve(list: list("@b c\0@a\0")) == ["b c", "a"])
    #expect(try resolve(list: list("@d")) == ["d/x"])
    fails("not-found", .io, naming: "*") { try resolve(list: list("@*")) }
    fails("no-files", .io, naming: "list") { try resolve(list: list("\n")) }
    fails("not-found", .io, naming: "nolist") { try resolve(list: "nolist") }
    fails("input-twice", .usage, naming: nil) { try resolve("-", list: "-") }
  }

  @Test("what yields nothing is an error that names it") func failures() throws {
    makeFolder("empty")
    makeFolder("only")
    makeFolder("only/folders")
    make("a")
    fails("no-input", .usage, naming: nil) { try resolve() }
    fails("not-found", .io, naming: "missing.gz") { try resolve("a", "missing.gz") }
    fails("not-found", .io, naming: "a/b") { try resolve("a/b") }
    fails("no-files", .io, naming: "empty") { try resolve("empty") }
    fails("no-files", .io, naming: "only") { try resolve("only") }
    fails("no-files", .io, naming: "only/*") { try resolve("only/*") }
    fails("no-files", .io, naming: "*.csv") { try resolve("*.csv") }
    _ = path("dangling").withCString { symlink("nowhere", $0) }
    fails("not-found", .io, naming: "dangling") { try resolve("dang*") }
    if geteuid() != 0 {
      make("secret")
      _ = path("secret").withCString { chmod($0, 0) }
      fails("auth", .io, naming: "secret") { try resolve("secret") }
      _ = path("empty").withCString { chmod($0, 0) }
      fails("auth", .io, naming: "empty") { try resolve("empty") }
      fails("auth", .io, naming: "empty/*") { try resolve("empty/*") }
      _ = path("empty").withCString { chmod($0, 0o700) }
    }
  }

  @Test("pipes are checked without being opened; sizes are known for regular files only") func pipes() throws {
    _ = path("fifo").withCString { mkfifo($0, 0o600) }
    make("a", "b")
    #expect(try resolve("fifo", "a") == ["fifo", "a"])
    #expect(InputResolver.totalSize(of: [path("a"), path("b")]) == 4)
    #expect(InputResolver.totalSize(of: [path("a"), path("fifo")]) == nil)
  }

  @Test("a folder and a pattern yield files only; a pipe is an input by its name") func pipesAmongFiles() throws {
    try FileManager.default.createDirectory(atPath: "\(path("d"))", withIntermediateDirectories: true)
    make("d/a", "d/c")
    _ = path("d/b").withCString { mkfifo($0, 0o600) }
    #expect(try resolve("d") == ["d/a", "d/c"])
    #expect(try resolve("d/*") == ["d/a", "d/c"])
    #expect(try resolve("d/b") == ["d/b"])
  }

  @Test("thousands of files need no more descriptors than one") func many() throws {
    for index in 0..<3000 { make(FilePath("c\(index)")) }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    #expect(try resolve("c*").count == 3000)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 200)
  }
}
