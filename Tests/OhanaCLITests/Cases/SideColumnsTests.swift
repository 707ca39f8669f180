import Foundation
import OhanaTestSupport
import Testing

/// CSV beside the main output, made of NDJSON: columns are met late there as in the main output (DESIGN 4).
@Suite("Columns of CSV beside the main output") struct SideColumnsTests {
  static let records = "{\"id\":1,\"a\":{\"x\":1}}\n{\"id\":2,\"k\":\"v\"}\n{\"id\":1,\"z\":[1,2]}\n{\"id\":3,\"a\":{\"y\":null}}\n"
  static let cases = [
    ToolCase(
      "tee: the union of keys, late ones last", ["a.ndjson": records], ["run", "a.ndjson", "-o", "o.ndjson", "then", "tee", "t.csv"],
      leaves: ["t.csv": "id,a.x,k,z,a.y\n1,1,,,\n2,,v,,\n1,,,1;2,\n3,,,,\n", "o.ndjson": records]),
    ToolCase(
      "keys of records dropped before count too", ["a.ndjson": records],
      ["run", "a.ndjson", "-o", "o.ndjson", "then", "filter", "id = 2", "then", "tee", "t.csv"],
      leaves: ["t.csv": "id,a.x,k,z,a.y\n2,,v,,\n"]),
    ToolCase(
      "what stages did before it shows", ["a.ndjson": records],
      [
        "run", "a.ndjson", "-o", "o.ndjson", "then", "drop", "a", "then", "set", "n = id + 1", "then", "tee", "t.tsv", "then", "drop", "id",
      ],
      leaves: ["t.tsv": "id\tn\tk\tz\n1\t2\t\t\n2\t3\tv\t\n1\t2\t\t1;2\n3\t4\t\t\n"]),
    ToolCase(
      "behind a sort", ["a.ndjson": records],
      ["run", "a.ndjson", "-o", "o.ndjson", "then", "sort", "id:number:desc", "then", "tee", "t.csv"],
      leaves: ["t.csv": "id,a.x,k,z,a.y\n3,,,,\n2,,v,,\n1,1,,,\n1,,,1;2,\n"]),
    ToolCase(
      "duplicates", ["a.ndjson": records], ["run", "a.ndjson", "-o", "o.csv", "then", "dedupe", "--by", "id", "--duplicates", "d.csv"],
      leaves: ["d.csv": "id,a.x,_survivor,k,z,a.y\n1,,a.ndjson:1,,1;2,\n", "o.csv": "id,a.x,k,z,a.y\n1,1,,,\n2,,v,,\n3,,,,\n"]),
    ToolCase(
      "objects behind keep have columns too", ["a.ndjson": records],
      ["run", "a.ndjson", "-o", "o.ndjson", "then", "keep", "id,a", "then", "tee", "t.csv"],
      leaves: ["t.csv": "id,a.x,a.y\n1,1,\n2,,\n1,,\n3,,\n"]),
    ToolCase(
      "two of them, the main output a third", ["a.ndjson": records],
      ["run", "a.ndjson", "-o", "o.csv", "then", "tee", "t.csv", "then", "keep", "k", "then", "tee", "u.csv", "then", "rename", "k=l"],
      leaves: [
        "t.csv": "id,a.x,k,z,a.y\n1,1,,,\n2,,v,,\n1,,,1;2,\n3,,,,\n", "u.csv": "k\n\"\"\nv\n\"\"\n\"\"\n",
        "o.csv": "l\n\"\"\nv\n\"\"\n\"\"\n",
      ]),
    ToolCase(
      "one column, with nulls", ["a.ndjson": "{}\n{\"a\":null}\n{\"a\":\"\"}\n{\"a\":1}\n"],
      ["run", "a.ndjson", "-o", "o.ndjson", "then", "tee", "t.csv"], leaves: ["t.csv": "a\n\"\"\n\"\"\n\"\"\n1\n"]),
    ToolCase(
      "no record at all", ["a.ndjson": ""], ["run", "a.ndjson", "-o", "o.ndjson", "then", "tee", "t.csv"], leaves: ["t.csv": ""]),
    ToolCase(
      "what is written in place is as it was: NDJSON there needs no columns", ["a.ndjson": records],
      ["run", "a.ndjson", "-o", "o.ndjson", "then", "tee", "/dev/stdout"], out: records),
    ToolCase(
      "CSV there does, and is refused", ["a.ndjson": records, "b.csv": "n\n"], ["run", "a.ndjson", "-o", "o.csv", "then", "tee", "-"],
      status: 2,
      says: ["tee: the columns of NDJSON records are known only at the end", "'keep'"], leavesNot: ["o.csv"]),
  ]
  @Test("are found as those of the main output", arguments: cases) func given(_ c: ToolCase) throws { try c.check() }

  @Test("late columns, for any threads and memory, are those of a conversion", arguments: ["t.csv", "t.csv.gz"]) func late(
    name: String
  ) throws {
    let folder = try Workdir()
    let text = (0..<60_000).map { index in
      index < 20_000 ? "{}\n" : "{\"id\":\(index),\"k\(index / 9_000)\":\"\(String(repeating: "v", count: index % 60))\"}\n"
    }.joined()
    try folder.write("a.ndjson", text)
    let main = try folder.run(["convert", "a.ndjson", "-o", "main.csv"])
    #expect(main.status == 0, "\(main.err)")
    let expected = try folder.text("main.csv")
    #expect(expected.hasPrefix("id,k2,k3,k4,k5,k6\n,,,,,\n") && expected.split(separator: "\n").count == 60_001)
    for (threads, memory) in [("1", "256M"), ("2", "16M"), ("8", "16M")] {
      let result = try folder.run(
        ["run", "a.ndjson", "--threads", threads, "--memory", memory, "--to", "ndjson", "--overwrite", "then", "tee", name])
      #expect(result.status == 0 && result.text == text, "\(result.err)")
      let side = try folder.run([], shell: "zcat -f \(name)")
      #expect(side.text == expected, "--threads \(threads)")
    }
  }
}
