import Foundation
import OhanaCore
import OhanaTestSupport
import Testing

@testable import OhanaRun

@Suite("The locks of outputs") struct LockTests {
  private let manager = LockManager()

  @Test("the second is refused while the first lives, and gets it afterwards") func excludes() throws {
    let workdir = try Workdir()
    let output = FilePath(workdir.path("out.csv"))
    let first = try #require(try manager.acquire([output]).first)
    try first.note(.init(folder: "/somewhere", isBeside: false), mark: ".ohana-abcdef1")
    #expect(try manager.stateFolder(of: output) == "/somewhere")
    let error = #expect(throws: OhanaError.self) { _ = try manager.acquire([output]) }
    #expect(error?.category == .locked)
    #expect(error?.problem.contains("\(getpid())") == true)
    #expect(try manager.acquire([FilePath(workdir.path("other.csv"))]).count == 1)
    first.release(keepsFile: true)
    #expect(try manager.stateFolder(of: output) == "/somewhere")
    let second = try #require(try manager.acquire([output]).first)
    #expect(second.earlier == .init(folder: "/somewhere", isBeside: false))
    second.release(keepsFile: false)
    #expect(workdir.names == [".other.csv.ohana-lock"])
  }

  @Test("a program that is being started, and has copies of all descriptors until it runs, keeps no lock that was given back")
  func isGivenBackWhoeverHasCopies() throws {
    let workdir = try Workdir()
    let output = FilePath(workdir.path("out"))
    let lock = try #require(try LockManager().acquire([output]).first)
    let own = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init).filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == lock.path.description
    }
    let copies = own.map { dup($0) }
    defer { for copy in copies { close(copy) } }
    #expect(copies.count == 1)
    #expect(throws: OhanaError.self) { try LockManager().acquire([output]) }
    lock.release(keepsFile: true)
    for lock in try LockManager().acquire([output]) { lock.release(keepsFile: false) }
  }

  @Test("a lock that cannot be opened is told as such, and not as another run", arguments: ["folder", "link"])
  func cannotBeOpened(kind: String) throws {
    let workdir = try Workdir()
    let name = workdir.path(".out.ohana-lock")
    if kind == "folder" {
      try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
    } else {
      try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: "x")
    }
    let error = #expect(throws: OhanaError.self) { _ = try manager.acquire([FilePath(workdir.path("out"))]) }
    #expect(error?.code == "lock-closed" && error?.description.contains(name) == true)
  }

  @Test("where no lock can be made, or none is needed, there is none", arguments: ["/nowhere/at/all", "-", "/dev/null", "/dev/stdout"])
  func noLock(path: String) throws { #expect(try manager.acquire([FilePath(path)]).isEmpty) }

  @Test("a lock tells where the state lies, of a file beside the output too, and whose it is; shorter notes leave nothing of longer ones")
  func notes() throws {
    let workdir = try Workdir()
    let output = FilePath(workdir.path("tee.csv"))
    for note in [
      .init(folder: "/somewhere/else", isBeside: true), .init(folder: "/somewhere", isBeside: false), nil,
      .init(folder: "/s", isBeside: true), .init(folder: "/t", isBeside: false),
    ] as [OutputLock.Note?] {
      let lock = try #require(try manager.acquire([output]).first)
      try lock.note(note, mark: ".ohana-abcdef1")
      #expect(try manager.stateFolder(of: output) == note?.folder)
      lock.release(keepsFile: true)
      let next = try #require(try manager.acquire([output]).first)
      #expect(next.earlier == note && next.earlierMark == ".ohana-abcdef1")
      next.release(keepsFile: true)
    }
  }

  @Test("whoever is refused one of several gets none of them, and leaves no trace") func allOrNone() throws {
    let workdir = try Workdir()
    let paths = ["a", "b", "c"].map { FilePath(workdir.path($0)) }
    let first = try manager.acquire([paths[1]])
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
      let error = #expect(throws: OhanaError.self) { _ = try manager.acquire(order.map { paths[$0] }) }
      #expect(error?.location?.source == paths[1])
      #expect(workdir.names == [".b.ohana-lock"])
    }
    first[0].release(keepsFile: false)
    #expect(try manager.acquire(paths).count == 3)
  }

  @Test("of runs that name the same outputs in different orders exactly one gets them", arguments: 0..<20)
  func noDeadlock(seed: UInt64) async throws {
    let workdir = try Workdir()
    let paths = (0..<6).map { FilePath(workdir.path("\($0)")) }
    let manager = self.manager
    let held = await withTaskGroup(of: [OutputLock].self) { group in
      for index in 0..<4 {
        var random = SeededGenerator(seed: seed &* 4 &+ UInt64(index))
        let order = paths.shuffled(using: &random)
        group.addTask { (try? manager.acquire(order)) ?? [] }
      }
      var all: [[OutputLock]] = []
      for await locks in group { all.append(locks) }
      return all
    }
    #expect(held.filter { $0.count == paths.count }.count == 1)
    #expect(held.filter { $0.isEmpty }.count == 3)
  }

  struct Pair: Sendable, CustomTestStringConvertible {
    let first: String, second: String, coincide: Bool
    var testDescription: String { "\(first), \(second)" }
  }
  static let pairs: [Pair] = [
    .init(first: "p-{n}.csv", second: "p-{n}.csv", coincide: true),
    .init(first: "p-{n}.csv", second: "p-{n:5}.csv", coincide: true),
    .init(first: "p-{n}.csv", second: "p-7.csv", coincide: true),
    .init(first: "p-7.csv", second: "p-{n}.csv", coincide: true),
    .init(first: "p-{n}.csv", second: "p-1{n}.csv", coincide: true),
    .init(first: "p1{n}", second: "p123", coincide: true),
    .init(first: "{n}9", second: "p9", coincide: false),
    .init(first: "p-{n}.csv", second: "p-x.csv", coincide: false),
    .init(first: "p-{n}.csv", second: "q-{n}.csv", coincide: false),
    .init(first: "p-{n}.csv", second: "p-{n}.csv.gz", coincide: false),
    .init(first: "p-{n}.csv", second: "p-7.csv.gz", coincide: false),
    .init(first: "2026-11-30.csv", second: "2026-12-01.csv", coincide: false),
  ]

  @Test("chunks and files that may have the same name exclude one another", arguments: pairs) func chunks(_ pair: Pair) throws {
    let workdir = try Workdir()
    let held = try manager.acquire([FilePath(workdir.path(pair.first))])
    #expect(held.count == 1)
    if pair.coincide {
      let error = #expect(throws: OhanaError.self) { _ = try manager.acquire([FilePath(workdir.path(pair.second))]) }
      #expect(error?.location?.source == FilePath(workdir.path(pair.second)))
    } else {
      #expect(try manager.acquire([FilePath(workdir.path(pair.second))]).count == 1)
    }
    for lock in held { lock.release(keepsFile: true) }
    #expect(try manager.acquire([FilePath(workdir.path(pair.second))]).count == 1, "a dead one's is taken over")
  }
}
