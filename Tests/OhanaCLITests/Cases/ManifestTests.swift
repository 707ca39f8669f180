import Foundation
import OhanaTestSupport
import Testing

@Suite("The manifest") struct ManifestTests {
  private func published(_ chunked: Bool = false) throws -> Workdir {
    let workdir = try Workdir()
    #expect(try workdir.run(["generate", "--rows", "1000", "-o", "in.ndjson"]).status == 0)
    let output = chunked ? ["-o", "out-{n}.ndjson.gz", "--chunk-records", "300"] : ["-o", "out.csv.gz"]
    let result = try workdir.run(
      ["run", "in.ndjson", "--manifest", "set.json"] + output + ["then", "dedupe", "--by", "email", "then", "tee", "side.ndjson"])
    #expect(result.status == 0, "\(result.err)")
    return workdir
  }

  @Test("says of each file its records, size and SHA-256 as sha256sum does") func describes() throws {
    let workdir = try published(true)
    let manifest = try #require(try JSONSerialization.jsonObject(with: workdir.read("set.json")) as? [String: Any])
    let files = try #require(manifest["files"] as? [[String: Any]])
    #expect(files.count >= 4)
    var records = 0
    for file in files {
      let path = try #require(file["path"] as? String)
      let sum = try workdir.run([], shell: "sha256sum '\(path)' | cut -c1-64; stat -c %s '\(path)'")
      #expect(sum.lines == [file["sha256"] as? String, "\(file["size"] as? Int ?? -1)"])
      let count = try workdir.run(["count", path])
      #expect(count.lines == ["\(file["records"] as? Int ?? -1)"])
      if file["role"] as? String == "main" { records += file["records"] as? Int ?? 0 }
    }
    let books = try #require(manifest["books"] as? [String: Any])
    #expect(books["written"] as? Int == records)
    #expect((manifest["versions"] as? [String: String])?["ohana"] != nil)
    #expect((manifest["plan"] as? [String])?.isEmpty == false)
  }

  @Test("check --manifest finds a whole set whole, from anywhere") func checks() throws {
    let workdir = try published()
    let result = try workdir.run(["check", "--manifest", "set.json"])
    #expect(result.status == 0 && result.lines.count == 2, "\(result.text)\(result.err)")
    #expect(try workdir.run([], shell: "cd / && $OHANA check --manifest \(workdir.path("set.json"))").status == 0)
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    let shell: String
    let told: String
    var isChunked = false
    var testDescription: String { told }
  }
  @Test(
    "check --manifest tells what is missing, longer, or other",
    arguments: [
      Damage(shell: "rm side.ndjson", told: "side.ndjson: missing"), Damage(shell: "echo >> out.csv.gz", told: "bytes instead of"),
      Damage(shell: "printf X | dd of=out.csv.gz bs=1 seek=99 conv=notrunc status=none", told: "out.csv.gz: its bytes are others"),
      Damage(
        shell: "cp out-1.ndjson.gz out-9.ndjson.gz", told: "out-9.ndjson.gz: has a name of this set, and is no file of it",
        isChunked: true),
      Damage(shell: "rm out-2.ndjson.gz", told: "out-2.ndjson.gz: missing", isChunked: true),
    ]) func finds(damage: Damage) throws
  {
    let workdir = try published(damage.isChunked)
    try workdir.run([], shell: damage.shell)
    let result = try workdir.run(["check", "--manifest", "set.json"])
    #expect(result.status == 1 && result.text.contains(damage.told), "\(result.text)\(result.err)")
  }

  @Test("names beside a set of chunks are no fault of it, nor is where the manifest stands", arguments: ["set.json", "tmp/set.json"])
  func neighbours(manifest: String) throws {
    let workdir = try Workdir()
    try workdir.write("in.csv", "a\n1\n2\n3\n")
    #expect(try workdir.run(["convert", "in.csv", "-o", "p-{n:2}.csv", "--chunk-records", "2", "--manifest", manifest]).status == 0)
    try workdir.run([], shell: "touch p-3.csv p-003.csv p-03.csv.gz q-03.csv p-x.csv; mv p-01.csv real; ln -s real p-01.csv")
    let good = try workdir.run(["check", "--manifest", manifest])
    #expect(good.status == 0 && good.lines.count == 2, "\(good.text)\(good.err)")
    try workdir.write("p-03.csv", "a\n9\n")
    let bad = try workdir.run([], shell: "cd / && $OHANA check --manifest \(workdir.path(manifest))")
    #expect(bad.status == 1 && bad.lines.count == 3, "\(bad.text)")
    #expect(bad.lines.last?.hasSuffix("p-03.csv: has a name of this set, and is no file of it") ?? false, "\(bad.text)")
  }

  @Test("a manifest behind a link names its files from where it lies") func throughLink() throws {
    let workdir = try Workdir()
    try workdir.write("in.csv", "a\n1\n")
    try workdir.run([], shell: "mkdir sets; ln -s sets/m.json current.json; printf 'a\n9\n' > x.csv")
    #expect(try workdir.run(["convert", "in.csv", "-o", "sets/x.csv", "--manifest", "current.json"]).status == 0)
    let good = try workdir.run(["check", "--manifest", "current.json"])
    #expect(good.status == 0 && good.lines.count == 1, "\(good.text)\(good.err)")
    try workdir.write("sets/x.csv", "a\n9\n")
    #expect(try workdir.run(["check", "--manifest", "current.json"]).status == 1)
  }

  @Test("what is no manifest is bad input; an output to a pipe has none") func refuses() throws {
    let workdir = try published()
    #expect(try workdir.run(["check", "--manifest", "in.ndjson"]).status == 3)
    #expect(try workdir.run(["check", "--manifest", "nowhere.json"]).status == 4)
    // Before anything is read or printed.
    for command in ["run in.ndjson", "plan run in.ndjson", "run in.ndjson -o out.csv --overwrite --rejects /dev/null", "generate --rows 1"]
    {
      let piped = try workdir.run([], shell: "$OHANA \(command) --manifest other.json | cat; exit ${PIPESTATUS[0]}")
      #expect(piped.status == 2 && piped.text.isEmpty && piped.err.contains("regular files"), "\(command): \(piped.err)")
    }
    #expect(!workdir.exists("other.json"))
  }

  @Test("a failed run leaves the old manifest with the old set") func failedRun() throws {
    let workdir = try published()
    let before = try workdir.read("set.json")
    let result = try workdir.run(
      ["run", "in.ndjson", "-o", "out.csv.gz", "--manifest", "set.json", "--overwrite", "--min-records", "99999"])
    #expect(result.status == 8)
    #expect(try workdir.read("set.json") == before)
    #expect(try workdir.run(["check", "--manifest", "set.json"]).status == 0)
  }
}
