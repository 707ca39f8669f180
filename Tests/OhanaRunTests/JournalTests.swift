import Foundation
import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

@testable import OhanaRun

@Suite("The journal") struct JournalTests {
  private let manager = JournalManager()

  private func kept(_ seed: UInt64) -> RunState.Kept {
    RunState.Kept(
      identity: nil, mark: ".ohana-\(seed)", folders: ["/a", FilePath(bytes: [0x2f, 0xff])], fingerprintSeed: seed,
      arguments: ["run", "x"], directory: "/")
  }

  private func changes(_ seed: UInt64) -> [any DurableUpdater] {
    var random = SeededGenerator(seed: seed)
    var changes: [any DurableUpdater] = [JournalActions.Open(kept: kept(seed))]
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      changes.append(JournalActions.AddFolders(folders: [FilePath("/f\(Int.random(in: 0...9, using: &random))")]))
    }
    var books = RunBooks()
    books.seconds = Double.random(in: 0...9, using: &random)
    let rename = PendingRename(temporary: "/t", final: "/f", mode: 0o644, overwrites: true)
    if Bool.random(using: &random) {
      changes.append(PublishActions.Committing(commit: .init(renames: [rename], books: books, notes: ["ä"])))
    }
    return changes
  }

  @Test("the fold of the journal equals the live state, for any changes", arguments: 0..<50)
  func foldEqualsLiveState(seed: UInt64) throws {
    let workdir = try Workdir()
    let journal = try #require(manager.newFolder(in: FilePath(workdir.url.path), for: "/x/out.csv").flatMap(manager.create))
    var live = RunState()
    for change in changes(seed) {
      try journal.append(change)
      change.update(&live)
    }
    let read = try #require(manager.read(journal.folder, kinds: JournalActions.kinds))
    #expect(JournalActions.fold(read.changes) == live)
    manager.remove(journal.folder)
    #expect(workdir.names.isEmpty)
  }

  @Test("a journal cut anywhere, or damaged in its last entry, gives the whole entries before; damaged elsewhere, none")
  func tornEndIsIgnored() throws {
    let workdir = try Workdir()
    let journal = try #require(manager.newFolder(in: FilePath(workdir.url.path), for: "out").flatMap(manager.create))
    for seed in 0..<4 { try journal.append(JournalActions.Open(kept: kept(UInt64(seed)))) }
    let path = FilePath(journal.folder.description + "/journal")
    let bytes = Array(try Data(contentsOf: URL(filePath: path.description)))
    let whole = try #require(manager.parse(bytes, kinds: JournalActions.kinds))
    #expect(whole.changes.count == 4 && whole.length == bytes.count)
    let entry = (bytes.count - 8) / 4
    for length in 8..<bytes.count {
      let cut = try #require(manager.parse(Array(bytes[..<length]), kinds: JournalActions.kinds))
      #expect(cut.changes.count == (length - 8) / entry && cut.length == 8 + cut.changes.count * entry)
    }
    for index in stride(from: 8, to: bytes.count, by: 7) {
      var flipped = bytes
      flipped[index] ^= 1
      let (number, offset) = (index - 8).quotientAndRemainder(dividingBy: entry)
      let found = manager.parse(flipped, kinds: JournalActions.kinds)
      // A length beyond the end looks like an entry that was cut off.
      if number == 3 || (1..<4).contains(offset) { #expect(found?.changes.count == number) } else { #expect(found == nil, "\(index)") }
    }
    // The file had grown, and its bytes had not come to disk.
    let grown = try #require(manager.parse(bytes.dropLast(entry) + [UInt8](repeating: 0, count: entry), kinds: JournalActions.kinds))
    #expect(grown.changes.count == 3)
    #expect(manager.parse(Array(bytes[1...]), kinds: JournalActions.kinds) == nil)
  }

  @Test("no folder but a private one of ours is read or removed") func foreignFoldersAreLeftAlone() throws {
    let workdir = try Workdir()
    try workdir.write("ohana-x/journal", Data(Journal.magic))
    let folder = FilePath(workdir.path("ohana-x"))
    chmod(folder.description, 0o755)
    #expect(manager.read(folder, kinds: JournalActions.kinds) == nil)
    manager.remove(folder)
    #expect(workdir.exists("ohana-x/journal"))
    chmod(folder.description, 0o700)
    #expect(manager.read(folder, kinds: JournalActions.kinds) != nil)
    try workdir.write("ohana-x/other", "x")
    manager.remove(folder)
    #expect(workdir.exists("ohana-x/other"), "what is no file of ours stays")
  }
}

@Suite("A killed publication") struct KilledPublicationTests {
  /// Leaves behind what a run leaves that is killed when `done` of its two renames are.
  private func leave(in workdir: Workdir, done: Int) throws {
    let (locks, journals) = (LockManager(), JournalManager())
    try workdir.write("out.ndjson", "old\n")
    try workdir.write("side.ndjson", "old\n")
    try workdir.write(".out.ndjson.ohana-m-1", "{\"new\":1}\n")
    try workdir.write(".side.ndjson.ohana-m-2", "{\"new\":2}\n")
    try workdir.write(".side.ndjson.ohana-m-3", "never finished")
    let held = try locks.acquire(["out.ndjson", "side.ndjson"].map { FilePath(workdir.path($0)) })
    #expect(held.count == 2)
    try FileManager.default.createDirectory(atPath: workdir.path("tmp"), withIntermediateDirectories: true)
    let journal = try #require(journals.newFolder(in: FilePath(workdir.path("tmp")), for: "out.ndjson").flatMap(journals.create))
    for (lock, isBeside) in zip(held, [false, true]) {
      try lock.note(.init(folder: journal.folder, isBeside: isBeside), mark: ".ohana-abcdef1")
    }
    let folder = FilePath(workdir.url.path).appending("x").absolute!.parent
    let names = [(".out.ndjson.ohana-m-1", "out.ndjson"), (".side.ndjson.ohana-m-2", "side.ndjson")]
    let renames = names.map { temporary, final in
      PendingRename(
        temporary: folder.appending(FilePath(temporary)), final: folder.appending(FilePath(final)), mode: 0o640, overwrites: true)
    }
    try journal.append(
      JournalActions.Open(
        kept: .init(
          identity: nil, mark: ".ohana-m", folders: [folder], locks: held.map(\.path),
          fingerprintSeed: 1, arguments: [], directory: "/")))
    var books = RunBooks()
    books.written = 42
    try journal.append(PublishActions.Committing(commit: .init(renames: renames, books: books, notes: [])))
    for rename in renames.prefix(done) { try rename.finish() }
    for lock in held { lock.release(keepsFile: true) }
  }

  @Test("is finished by the next run to one of its outputs, which then does its own work", arguments: 0...2, ["out", "side"])
  func byTheNextRun(done: Int, name: String) throws {
    let workdir = try Workdir()
    try leave(in: workdir, done: done)
    let result = try workdir.run(["run", "-", "--from", "ndjson", "-o", "\(name).ndjson"], input: Data("{\"a\":1}\n".utf8))
    #expect(result.status == 2, "\(result.err)")
    #expect(try workdir.text("out.ndjson") == "{\"new\":1}\n")
    #expect(try workdir.text("side.ndjson") == "{\"new\":2}\n")
    #expect(workdir.names == ["out.ndjson", "side.ndjson", "tmp"])
    #expect(workdir.isTemporaryEmpty)
  }

  @Test("is finished by --resume, which reads nothing and tells what was done", arguments: 0...2) func byResume(done: Int) throws {
    let workdir = try Workdir()
    try leave(in: workdir, done: done)
    let result = try workdir.run(["run", "nothing-there.ndjson", "-o", "out.ndjson", "--resume", "--overwrite"])
    #expect(result.status == 0, "\(result.err)")
    #expect(result.err.contains("wrote 42"))
    #expect(try workdir.text("out.ndjson") == "{\"new\":1}\n")
    #expect(try workdir.text("side.ndjson") == "{\"new\":2}\n")
    #expect(workdir.names == ["out.ndjson", "side.ndjson", "tmp"])
    #expect(workdir.isTemporaryEmpty)
  }
}
