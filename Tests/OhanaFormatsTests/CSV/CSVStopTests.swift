import OhanaCore
import OhanaFormats
import OhanaTestSupport
import Testing

/// A run whose last stage lets so many records through and stops, played by hand: batches of any size, some of them ahead of the stop when
/// it comes, rows written before and after it. What comes out has to be what the records up to the stop alone give.
private struct StoppedRun {
  var flattening = Flattening()
  var limit: Int
  var batchBytes: Int
  /// What is held back until the end of the input, as a stage does that has spilled: the stop comes behind it.
  var isHeldBack = false
  var random: SeededGenerator

  mutating func callAsFunction(_ text: String) throws -> String {
    let table = CSVColumnTable()
    var collector = CSVColumnCollector(layout: flattening.layout, table: table)
    table.mayEnd(whileWriting: true)
    let renderer = CSVRenderer(
      layout: flattening.layout, fields: flattening.sourceFields, columns: .collected(table), options: flattening.options)
    var rows: [UInt8] = []
    var stretches: [CSVPadder.Stretch] = []
    func write(_ batch: RecordBatch) throws {
      _ = try renderer.process(batch)
      rows += batch.output.bytes
      stretches.append(.init(records: batch.outputCount, width: batch.outputWidth))
    }

    // The reader and the collector, which get ahead.
    let framer = NDJSONFramer(PiecesStream(Array(text.utf8)), batchBytes: batchBytes)
    let parser = NDJSONParser(fields: flattening.sourceFields, wantsMembers: flattening.layout.followsSource)
    var steps = collector.steps
    var ordinal = 0
    func read() throws -> RecordBatch? {
      let batch = RecordBatch()
      batch.slotCount = flattening.slotCount
      guard try framer.next(into: batch) else { return nil }
      _ = try parser.process(batch)
      #expect(batch.rejects.isEmpty)
      batch.source = 3
      batch.firstOrdinal = ordinal
      ordinal += batch.recordCount
      for step in steps {
        switch step {
        case .row(let stage): _ = try stage.process(batch)
        case .ordered(let stage): _ = try stage.process(batch)
        }
      }
      return batch
    }

    /// What was met goes to another process, as at a checkpoint.
    func move() throws {
      var bytes: [UInt8] = []
      let writer = CheckpointWriter { bytes += $0 }
      try table.save(to: writer)
      try writer.finish()
      var taken = 0
      let reader = CheckpointReader(spill: MemorySpillStore(), limit: bytes.count) { target in
        let count = min(target.count, bytes.count - taken)
        target.copyBytes(from: bytes[taken..<taken + count])
        taken += count
        return count
      }
      try table.restore(from: reader)
      collector = CSVColumnCollector(layout: flattening.layout, table: table)
      steps = collector.steps
    }

    var waiting: [RecordBatch] = []
    var isAtEnd = false
    if isHeldBack {
      let payload = RecordPayload()
      payload.slots = Array(0..<flattening.slotCount)
      payload.needsOrigin = true
      let packer = RecordPacker(payload)
      let size = Int.random(in: 1...8, using: &random)
      while let batch = try read() {
        for index in 0..<batch.selectedCount {
          let out = ByteBuffer()
          packer.pack(Int(batch.selection[index]), of: batch, to: out)
          if waiting.last.map({ $0.recordCount >= size }) ?? true {
            waiting.append(RecordBatch())
            waiting.last!.slotCount = flattening.slotCount
          }
          _ = packer.unpack(UnsafeRawPointer(out.base), into: waiting.last!)
        }
      }
      for case .ordered(let stage) in steps { #expect(try (stage.finish() as AnyObject?) == nil) }
      isAtEnd = true
    }

    // The stop, and the writer behind it.
    var left = limit
    var written: [RecordBatch] = []
    var hasStopped = false
    while !hasStopped {
      while !isAtEnd, waiting.isEmpty || Int.random(in: 0..<3, using: &random) > 0 {
        if Int.random(in: 0..<4, using: &random) == 0 { try move() }
        if let batch = try read() { waiting.append(batch) } else { isAtEnd = true }
      }
      if waiting.isEmpty {
        if !isHeldBack { for case .ordered(let stage) in steps { _ = try stage.finish() } }
        break
      }
      let batch = waiting.removeFirst()
      batch.selectedCount = min(left, batch.selectedCount)
      left -= batch.selectedCount
      hasStopped = left == 0
      if hasStopped, batch.selectedCount > 0 || !batch.hasOrigins {
        var bound = RecordOrigin(source: 3, ordinal: UInt64(batch.firstOrdinal))
        if batch.selectedCount > 0 {
          bound = batch.origin(of: Int(batch.selection[batch.selectedCount - 1]))
          bound.ordinal += 1
        }
        // A stop further on is overruled by this one, be it told of before or after.
        let further = RecordOrigin(source: 3, ordinal: bound.ordinal + UInt64.random(in: 0..<5, using: &random))
        for bound in Bool.random(using: &random) ? [further, bound] : [bound, further] { collector.end(before: bound) }
      }
      written.append(batch)
      // What is under way is written some time or other.
      while let first = written.first, Int.random(in: 0..<2, using: &random) == 0 {
        try write(first)
        written.removeFirst()
      }
    }
    if hasStopped, !isAtEnd, let late = try read() { _ = late }
    for batch in written { try write(batch) }

    try table.settle()
    let columns = table.columns.names
    let out = ByteBuffer()
    flattening.options.fileHead(columns).withUnsafeBufferPointer { out.append($0) }
    if CSVPadder.isNeeded(stretches, fullWidth: columns.count) {
      var padder = CSVPadder(stretches, fullWidth: columns.count, options: flattening.options)
      var start = 0
      while start < rows.count {
        let end = min(rows.count, start + Int.random(in: 1...40, using: &random))
        Array(rows[start..<end]).withUnsafeBufferPointer { padder.pad($0, to: out) }
        start = end
      }
    } else {
      rows.withUnsafeBufferPointer { out.append($0) }
    }
    return String(decoding: out.bytes, as: UTF8.self)
  }
}

@Suite("CSV columns where a stage stops reading") struct CSVStopTests {
  /// Records whose keys come and go, now and then two of them for one column.
  private static func records(_ random: inout SeededGenerator) -> [String] {
    let clashes = Int.random(in: 0..<3, using: &random) == 0
    return (0..<Int.random(in: 0...40, using: &random)).map { index in
      let keys = (["a", "b", "c\\n", "é"] + (0..<3).map { "k\(index / 4 + $0)" }).shuffled(using: &random)
      var members = keys.prefix(Int.random(in: 0...3, using: &random)).map { key in
        let value = ["null", "1", "\"\"", "\"x, \\\"y\\\"\"", "[]", "[1,2]", "{}", "{\"p\":1,\"q\":{\"r\":null}}", "\"\\n\""]
          .randomElement(using: &random)!
        return "\"\(key)\":\(value)"
      }
      if clashes, Int.random(in: 0..<12, using: &random) == 0 { members.append("\"a.p\":5") }
      return "{" + members.joined(separator: ",") + "}\n"
    }
  }

  @Test("are those of the records up to the stop, for any batches and any order of things", arguments: 0..<600)
  func properties(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let records = Self.records(&random)
    var flattening = Flattening()
    switch Int.random(in: 0..<5, using: &random) {
    case 0: flattening = try CSVFlatteningTests.planned { try $0.keep([FieldName("b"), FieldName("a"), FieldName("k3")]) }
    case 1: flattening = try CSVFlatteningTests.planned { try $0.rename([(FieldName("b"), FieldName("B"))]) }
    case 2: flattening = try CSVFlatteningTests.planned { try $0.drop([FieldName("b"), FieldName("k2")]) }
    default: break
    }
    flattening.options.endsWithCRLF = Bool.random(using: &random)
    flattening.options.quotesAll = Bool.random(using: &random)
    let limit = Int.random(in: 0...(records.count + 3), using: &random)
    let expected = Result { try flattening(records.prefix(limit).joined()) }
    for batchBytes in [1, 60, 400, 1 << 20] {
      for isHeldBack in limit > 0 ? [false, true] : [false] {
        var run = StoppedRun(
          flattening: flattening, limit: limit, batchBytes: batchBytes, isHeldBack: isHeldBack,
          random: SeededGenerator(seed: seed &* 31 &+ UInt64(batchBytes)))
        let found = Result { try run(records.joined()) }
        switch (expected, found) {
        case (.success(let expected), .success(let found)): #expect(found == expected, "batch \(batchBytes), held back: \(isHeldBack)")
        case (.failure(let expected), .failure(let found)): #expect("\(found)" == "\(expected)", "batch \(batchBytes)")
        default: Issue.record("batch \(batchBytes), held back \(isHeldBack): \(found) instead of \(expected)")
        }
      }
    }
  }

  @Test("the random records have what is looked for: late columns behind the stop, conflicts before and behind it") func coverage() throws {
    var (narrowed, conflictsBefore, conflictsBehind) = (0, 0, 0)
    for seed in 0..<600 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let records = Self.records(&random)
      let half = Result { try Flattening()(records.prefix(records.count / 2).joined()) }
      let whole = Result { try Flattening()(records.joined()) }
      switch (half, whole) {
      case (.success(let half), .success(let whole)) where half.prefix { $0 != "\n" } != whole.prefix { $0 != "\n" }: narrowed += 1
      case (.failure, _): conflictsBefore += 1
      case (.success, .failure): conflictsBehind += 1
      default: break
      }
    }
    #expect(narrowed > 100 && conflictsBefore > 10 && conflictsBehind > 10, "\(narrowed) \(conflictsBefore) \(conflictsBehind)")
  }

  @Test("rows of any widths become rows of one, whatever the pieces", arguments: 0..<400) func pads(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var options = CSVWriterOptions(delimiter: [0x2c, 0x3b, 0x09, 0x7c].randomElement(using: &random)!)
    options.endsWithCRLF = Bool.random(using: &random)
    let lineEnd = options.endsWithCRLF ? "\r\n" : "\n"
    let delimiter = String(UnicodeScalar(options.delimiter))
    let fullWidth = Int.random(in: 0...5, using: &random)
    var given = ""
    var expected = ""
    var stretches: [CSVPadder.Stretch] = []
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      let stretch = CSVPadder.Stretch(records: Int.random(in: 0...4, using: &random), width: Int.random(in: 0...7, using: &random))
      stretches.append(stretch)
      for _ in 0..<stretch.records {
        let cells = (0..<min(stretch.width, fullWidth)).map { _ in
          ["", "", "\"\"", "x", "\"a,;\t|b\"", "\"\"\"\"", "\"\n\"", "\"\r\n,,\"", "\",\"\"\n\"\"\"", "é"].randomElement(using: &random)!
        }
        func row(_ width: Int) -> String {
          (cells + Array(repeating: "", count: max(0, width - cells.count))).joined(separator: delimiter)
        }
        given += row(stretch.width) + lineEnd
        let full = row(fullWidth)
        expected += (fullWidth == 1 && full.isEmpty ? "\"\"" : full) + lineEnd
      }
    }
    let out = ByteBuffer()
    if CSVPadder.isNeeded(stretches, fullWidth: fullWidth) {
      var padder = CSVPadder(stretches, fullWidth: fullWidth, options: options)
      var rest = Array(given.utf8)[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(Int.random(in: 1...(Bool.random(using: &random) ? 2 : 30), using: &random)))
        rest = rest.dropFirst(piece.count)
        piece.withUnsafeBufferPointer { padder.pad($0, to: out) }
      }
      #expect(String(decoding: out.bytes, as: UTF8.self) == expected)
    } else {
      #expect(given == expected)
    }
  }

  @Test("fields of an explicit layout keep their order where the first record of a batch has only empty objects") func openings() throws {
    let keep = try CSVFlatteningTests.planned { try $0.keep([FieldName("a"), FieldName("b")]) }
    for batchBytes in [1 << 20, 1] { #expect(try keep("{\"a\":{},\"b\":{}}\n{\"b\":1}\n", batchBytes: batchBytes) == "b,a\n,\n1,\n") }
  }

  @Test("too many columns are an error only up to the stop") func tooMany() throws {
    let wide = (0..<5).map { part in "{" + (0..<1000).map { "\"k\(part * 1000 + $0)\":1" }.joined(separator: ",") + "}\n" }
    for batchBytes in [1 << 20, 1] {
      var fits = StoppedRun(limit: 4, batchBytes: batchBytes, random: SeededGenerator(seed: 1))
      #expect(try fits(wide.joined()) == Flattening()(wide.prefix(4).joined()))
      var tooWide = StoppedRun(limit: 5, batchBytes: batchBytes, random: SeededGenerator(seed: 1))
      let error = #expect(throws: OhanaError.self) { try tooWide(wide.joined()) }
      #expect(error?.code == "too-many-columns")
    }
  }
}
