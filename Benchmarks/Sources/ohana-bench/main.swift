// Throughput of each stage: whole processes on generated data, in turns, next to the codec floor. See Benchmarks/README.md.

@preconcurrency import Glibc

func run() throws {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  guard access(options.ohana, X_OK) == 0 else { throw BenchmarkError(description: "\(options.ohana) is no program; give --ohana") }
  let data = "\(options.work)/data-\(options.rows)-\(options.seed)"
  for input in [Case.Input.ndjson, .csv] where access("\(data)/\(input.rawValue)/part-8.\(input.rawValue).gz", R_OK) != 0 {
    _ = try measure(
      "mkdir -p '\(data)/\(input.rawValue)' && '\(options.ohana)' generate --rows \(options.rows) --chunks 8 --seed \(options.seed)"
        + " --format \(input.rawValue) -o '\(data)/\(input.rawValue)/part-{n}.\(input.rawValue).gz' --overwrite")
  }
  let output = "\(options.work)/stages"
  _ = try measure("mkdir -p '\(output)'")
  defer { _ = try? measure("rm -rf '\(output)'") }
  // A suppression list: the addresses of every person in one chunk.
  let list = "\(output)/list.ndjson"
  _ = try measure("'\(options.ohana)' keep email '\(data)/ndjson/part-1.ndjson.gz' -o '\(list)' --overwrite")

  let cases = Cases.all.filter { a in options.only.isEmpty || a.name.hasPrefix("floor") || options.only.contains { a.name.contains($0) } }
  func command(_ a: Case) -> String {
    a.command.replacing("@IN", with: "'\(data)/\(a.input.rawValue)'/*.gz").replacing("@LIST", with: "'\(list)'")
      .replacing("@OUT", with: "'\(output)'/out").replacing("@OHANA", with: "'\(options.ohana)'")
  }
  // One round to warm up and to see which commands fail, then rounds in turns, so that a slow minute hits all alike.
  var failed: [Int: String] = [:]
  for (index, a) in cases.enumerated() {
    do { _ = try measure(command(a)) } catch { failed[index] = "\(error)" }
  }
  var samples = [[Measurement]](repeating: [], count: cases.count)
  for _ in 0..<options.runs {
    for (index, a) in cases.enumerated() where failed[index] == nil {
      // A tee or a copy of the round before is in the way.
      _ = try measure("rm -f '\(output)'/out*")
      samples[index].append(try measure(command(a)))
    }
  }

  var rows: [Row] = []
  var floors: [Case.Input: Double] = [:]
  for (index, a) in cases.enumerated() where failed[index] == nil {
    let seconds = median(samples[index].map(\.wall))
    if a.name.hasPrefix("floor") { floors[a.input] = seconds }
    rows.append(
      Row(
        name: a.name, input: a.input, seconds: seconds, cpu: median(samples[index].map(\.cpu)),
        peakInMiB: samples[index].map(\.peakInMiB).max()!, megabytesPerSecond: try uncompressedSize(data, a.input) / seconds / 1e6,
        recordsPerSecond: Double(options.rows) / seconds, timesFloor: floors[a.input].map { seconds / $0 }))
  }
  let table = Report.table(rows)
  print(table.joined(separator: "\n"))
  for (index, problem) in failed.sorted(by: { $0.key < $1.key }) { print("failed: \(cases[index].name): \(problem)") }
  if !options.results.isEmpty {
    let introduction = [
      "## Stages", "",
      "\(options.rows) contacts in 8 gz chunks, gz at level 1 out; median of \(options.runs) runs in turns. MB are 10⁶ bytes of uncompressed input.",
      "Command: `ohana-bench --rows \(options.rows) --runs \(options.runs) --seed \(options.seed)`", "",
    ]
    try Report.write(introduction + table, to: options.results)
  }
  if !failed.isEmpty { exit(1) }
}

/// Bytes of the generated data, from the trailers of its members (RFC 1952 section 2.3.1): each chunk is one, below 4 GiB.
func uncompressedSize(_ data: String, _ input: Case.Input) throws -> Double {
  var total = 0.0
  for chunk in 1...8 {
    let path = "\(data)/\(input.rawValue)/part-\(chunk).\(input.rawValue).gz"
    guard let file = fopen(path, "r") else { throw BenchmarkError(description: "cannot read \(path)") }
    defer { fclose(file) }
    fseek(file, -4, SEEK_END)
    var size: UInt32 = 0
    guard fread(&size, 4, 1, file) == 1 else { throw BenchmarkError(description: "\(path) is too short") }
    total += Double(UInt32(littleEndian: size))
  }
  return total
}

do {
  try run()
} catch {
  fputs("ohana-bench: \(error)\n", stderr)
  exit(2)
}
