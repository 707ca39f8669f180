public import OhanaCore

/// Makes contact data sets: any number of records, reproducible to the byte, with the troubles of real exports in them.
///
/// Record `row` is a pure function of the seed, the share of duplicates and `row`; ranges can be made in any order and at once. Of
/// `rows` records about ``GenerateOptions/duplicatesInPercent`` are further records of a person met before, in other spellings: case,
/// accents dropped or decomposed, initials, names swapped or in one field, blanks around e-mail, other phone formats, moves, gaps. Nine of
/// ten of them share the person's e-mail address but for case and blanks. Values hold quotes, commas, line ends, backslashes and a dozen
/// scripts; a field may be missing, null or empty, `id` is a number, `verified` a bool, `tags` a list (joined by `;` in CSV). In NDJSON two records
/// of a hundred are written in ASCII, with escapes.
///
/// The truth is known: ``person(ofRow:)``.
///
/// - Complexity: O(1) a record in time, nothing allocated per record, about a million records a second and core.
public struct ContactGenerator: Sendable {
  private let options: GenerateOptions
  private let lexicon = Lexicon.shared
  /// Of 2³²: rows that are about a person met before.
  private let duplicateShare: UInt64

  /// Upper bound of a record's size in bytes, from ``Lexicon/maxWordSize`` and the three-fold growth of `\uXXXX`.
  static let maxRecordSize = 6144
  private static let blockSize = 1 << 20

  /// - Throws: ``OhanaError`` of category `usage` where the options ask for what cannot be made.
  public init(_ options: GenerateOptions) throws(OhanaError) {
    try options.validate()
    self.options = options
    duplicateShare = UInt64(options.duplicatesInPercent / 100 * 4_294_967_296)
  }

  // MARK: Records

  /// Appends the records of `rows`, counted from 0, in order. No header.
  ///
  /// - Precondition: `rows` lies in `0 ..< options.rows`.
  public func fill(_ buffer: ByteBuffer, rows: Range<Int>) {
    precondition(rows.lowerBound >= 0 && rows.upperBound <= options.rows, "rows out of range")
    var draft = ContactDraft.allocate()
    defer { draft.deallocate() }
    let view = lexicon.view
    let rendition = ContactRendition(lexicon: view, seed: options.seed)
    let writing = ContactWriting(lexicon: view)
    let isCSV = options.format == .csv
    for row in rows {
      let person = Person(self.person(ofRow: row), seed: options.seed, lexicon: view)
      rendition.draw(row: row, of: person, into: &draft)
      buffer.reserve(Self.maxRecordSize)
      let start = buffer.base + buffer.count
      var cursor = ByteCursor(start)
      if isCSV { writing.putCSV(draft, &cursor) } else { writing.putNDJSON(draft, &cursor) }
      buffer.count += cursor.next - start
    }
  }

  /// Appends what a chunk starts with: the header of CSV, nothing of NDJSON.
  public func fillHeader(_ buffer: ByteBuffer) {
    if options.format == .csv { buffer.append(string: ContactWriting.csvHeader) }
  }

  /// Makes one chunk, block by block of about 1 MiB. Chunks may be made at the same time.
  ///
  /// - Parameters:
  ///   - chunk: counted from 0.
  ///   - write: gets bytes that are valid during the call only; what it throws ends the work.
  public func generate(chunk: Int, write: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    let buffer = ByteBuffer(capacity: Self.blockSize + Self.maxRecordSize)
    fillHeader(buffer)
    try inBlocks(of: options.rows(ofChunk: chunk), buffer, fill: { fill($0, rows: $1) }) { bytes, _ in try write(bytes) }
  }

  /// The same without what a chunk starts with.
  ///
  /// - Parameter write: gets whole records, and how many.
  func generateRecords(ofChunk chunk: Int, write: (UnsafeBufferPointer<UInt8>, _ records: Int) throws -> Void) throws {
    let buffer = ByteBuffer(capacity: Self.blockSize + Self.maxRecordSize)
    try inBlocks(of: options.rows(ofChunk: chunk), buffer, fill: { fill($0, rows: $1) }, write: write)
  }

  /// Makes all chunks, one after the other. `write` is called at least once for each, with an empty block if it is empty.
  public func generate(write: (_ chunk: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    for chunk in 0..<options.chunks { try generate(chunk: chunk) { try write(chunk, $0) } }
  }

  // MARK: Truth

  /// The person that record `row` is about, named by the row of their first record.
  ///
  /// A later record is about whomever an earlier row, picked at random, is about: a few people have many records, most have one.
  public func person(ofRow row: Int) -> Int {
    var row = row
    while row > 0 {
      let draw = SplitMix64.mix((options.seed ^ 0x6F68_616E_6121) &+ UInt64(truncatingIfNeeded: row) &* SplitMix64.step)
      guard draw &>> 32 < duplicateShare else { return row }
      row = Int(truncatingIfNeeded: SplitMix64.mix(draw).multipliedFullWidth(by: UInt64(truncatingIfNeeded: row)).high)
    }
    return 0
  }

  /// What the truth starts with.
  static let truthHeader = "id,person\n"

  /// Writes the truth as CSV: `id,person`, where `person` is the id of the person's first record. Blocks of about 1 MiB.
  public func generateTruth(write: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    let buffer = ByteBuffer(capacity: Self.blockSize)
    buffer.append(string: Self.truthHeader)
    try inBlocks(of: 0..<options.rows, buffer, fill: fillTruth) { bytes, _ in try write(bytes) }
  }

  /// The same without what it starts with.
  ///
  /// - Parameter write: gets whole rows, and how many.
  func generateTruthRows(write: (UnsafeBufferPointer<UInt8>, _ rows: Int) throws -> Void) throws {
    try inBlocks(of: 0..<options.rows, ByteBuffer(capacity: Self.blockSize), fill: fillTruth, write: write)
  }

  private func fillTruth(_ buffer: ByteBuffer, rows: Range<Int>) {
    for row in rows {
      buffer.reserve(64)
      let start = buffer.base + buffer.count
      var cursor = ByteCursor(start)
      cursor.put(decimal: UInt64(row + 1))
      cursor.put(0x2C)
      cursor.put(decimal: UInt64(person(ofRow: row) + 1))
      cursor.put(0x0A)
      buffer.count += cursor.next - start
    }
  }

  private func inBlocks(
    of rows: Range<Int>, _ buffer: ByteBuffer, fill: (ByteBuffer, Range<Int>) -> Void,
    write: (UnsafeBufferPointer<UInt8>, _ rows: Int) throws -> Void
  ) throws {
    var next = rows.lowerBound
    repeat {
      let first = next
      while next < rows.upperBound, buffer.count < Self.blockSize {
        let end = min(next + 256, rows.upperBound)
        fill(buffer, next..<end)
        next = end
      }
      try write(buffer.bytes, next - first)
      buffer.removeAll()
    } while next < rows.upperBound
  }
}
