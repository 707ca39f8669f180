import Foundation
import OhanaTestSupport
import Testing

/// Stages that keep keys or whole inputs, from outside: the same bytes for any number of threads and any memory, with books that balance.
@Suite("stages from outside") struct StageTests {
  static let chains: [[String]] = [
    ["dedupe", "--by", "email:email", "--duplicates", "side.ndjson"], ["dedupe", "--by", "email:email", "--keep", "newest:updated_at"],
    ["dedupe", "--by", "email:email", "--duplicates", "side.csv"],
    ["dedupe", "--by", "email:email", "--keep", "last", "--duplicates", "side.csv"],
    ["filter", "city IS NOT NULL", "then", "drop", "tags", "then", "tee", "side.csv", "then", "sort", "last"],
    ["sort", "last", "then", "set", "x = upper(city)", "then", "tee", "side.csv", "then", "limit", "3"],
    [
      "keep", "id,first,last,phone", "then", "dedupe", "--by", "first:fold,last:fold", "--keep", "most-complete", "--duplicates",
      "side.csv",
    ],
    ["dedupe", "--by", "first:fold,last:fold", "--keep", "most-complete", "--duplicates", "side.ndjson"],
    ["distinct", "--ignore", "id,tags"],
    ["count-by", "country,city:fold"], ["suppress", "--list", "list.csv", "--by", "email:email"], ["sort", "last,first:desc,id:number"],
    ["reverse"], ["sort", "city:locale/sv", "then", "reverse", "then", "skip", "5", "then", "limit", "50"],
    ["sample", "100", "--seed", "3"],
    ["split", "--on", "phone", "then", "tag", "called", "where", "country = 'SE'", "then", "count-fields"],
    ["split", "--on", "email", "then", "distinct"],
    ["phone", "--region", "US", "--formats", "e164,national", "--invalid", "tag", "then", "dedupe", "--by", "phone:phone/US"],
    ["match", "ansn", "--in", "first,last,company", "--score", "s", "--top", "200"], ["match", "ansn", "--in", "first,last"],
    ["select", "--require-type", "email", "--max", "40000", "--min", "10"],
    ["any", "{", "split", "--on", "phone", "}", "{", "dedupe", "--by", "email:email", "then", "tag", "x", "}"],
    [
      "odd", "{", "require", "phone", "then", "sort", "last", "}", "{", "filter", "country = 'SE'", "}", "{", "sample", "3000", "}",
      "--order", "branch",
    ],
    ["sample", "7.5%"], ["tee", "side.ndjson", "then", "limit", "3"], ["skip", "1000", "then", "limit", "7"],
  ]

  @Test("give the same bytes for any threads and memory", arguments: chains.indices) func same(chain: Int) throws {
    let folder = try Workdir()
    try FileManager.default.createDirectory(atPath: folder.path("in"), withIntermediateDirectories: true)
    let made = try folder.run([
      "generate", "--rows", "30000", "--chunks", "3", "--seed", "5", "--duplicates", "30%", "-o", "in/{n}.ndjson.gz",
    ])
    try #require(made.status == 0, "\(made.err)")
    try folder.write("list.csv", "address\n")
    let list = try folder.run(["run", "in/1.ndjson.gz", "--to", "csv", "then", "keep", "email", "then", "limit", "400"])
    try #require(list.status == 0, "\(list.err)")
    try folder.write("list.csv", list.out)
    var stage = Self.chains[chain]
    let seed = stage.firstIndex(of: "--seed").map { Array(stage[$0...($0 + 1)]) } ?? []
    if !seed.isEmpty { stage.removeLast(2) }
    var first: (out: Data, side: [Data])?
    for (threads, memory) in [("1", "256M"), ("2", "16M"), ("8", "20M"), ("8", "4G")] {
      let result = try folder.run(["run", "in", "--overwrite", "--threads", threads, "--memory", memory] + seed + ["then"] + stage)
      try #require(result.status == 0, "\(result.err)")
      let side = try ["side.ndjson", "side.csv"].filter(folder.exists).map(folder.read)
      if let first {
        #expect(result.out == first.out && side == first.side, "--threads \(threads) --memory \(memory)")
      } else {
        #expect(!result.out.isEmpty)
        first = (result.out, side)
      }
      #expect(folder.isTemporaryEmpty)
    }
  }

  @Test("suppress finds the first line of a list without a header, and the column of a list with one") func lists() throws {
    let folder = try Workdir()
    try folder.write("in.csv", "id,email\n1,Ann@example.org\n2,cy@example.org\n3,bob@example.org\n4,\n")
    try folder.write("bare.txt", "ann@example.org\nBOB@example.org\n")
    try folder.write("named.csv", "email\nann@example.org\nBOB@example.org\n")
    try folder.write("wide.csv", "id;email\n9;ann@example.org\n9;BOB@example.org\n")
    try folder.write("list.ndjson", "{\"email\":\"ann@example.org\"}\n{\"email\":\"bob@example.org\"}\n")
    for list in ["bare.txt", "named.csv", "wide.csv", "list.ndjson"] {
      let result = try folder.run(["suppress", "--list", list, "--by", "email:email", "in.csv"])
      #expect(result.text == "id,email\n2,cy@example.org\n4,\n", "\(list): \(result.err)")
    }
    let missing = try folder.run(["suppress", "--list", "none.csv", "--by", "email", "in.csv"])
    #expect(missing.status == 4)
    try folder.write("other.csv", "a,b\n1,2\n")
    let other = try folder.run(["suppress", "--list", "other.csv", "--by", "email", "in.csv"])
    #expect(other.status == 2)
  }

  @Test("what lies behind the record that filled a limit is no error, unless a tee needs it") func limits() throws {
    let folder = try Workdir()
    try folder.write("in.ndjson", "{\"a\":1}\n{\"a\":2}\nbroken\n{\"a\":3}\n")
    for count in ["0", "1", "2"] {
      let result = try folder.run(["limit", count, "in.ndjson"])
      #expect(result.status == 0 && result.lines.count == Int(count), "\(result.err)")
    }
    #expect(try folder.run(["limit", "3", "in.ndjson"]).status == 3)
    #expect(try folder.run(["run", "in.ndjson", "then", "tee", "side.ndjson", "then", "limit", "1"]).status == 3)
  }
}
