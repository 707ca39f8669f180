public import OhanaCore

/// What `ohana generate` makes.
public struct GenerateOptions: Sendable, Equatable {
  /// Formats it can write; compression follows the name of the output.
  public enum Format: String, Sendable, CaseIterable { case ndjson, csv }

  /// Records in all chunks together.
  public var rows: Int
  /// Chunks the rows are spread over, evenly and in order. A chunk may be empty where there are fewer rows than chunks.
  public var chunks: Int
  /// The same seed gives the same records, whatever the format, the chunks and the order of the calls.
  public var seed: UInt64
  /// Share of records, in percent, that are about a person who has an earlier record.
  public var duplicatesInPercent: Double
  /// Of all chunks.
  public var format: Format
  /// Where the truth is written, as CSV of record id and person id; nil: nowhere.
  public var truth: FilePath?

  /// - Parameters rows: in all chunks together. `chunks`: files they are spread over. `seed`: the same one gives the same bytes.
  ///   `duplicatesInPercent`: share of records that repeat a person. `format`: of the output.
  public init(rows: Int, chunks: Int = 1, seed: UInt64 = 0, duplicatesInPercent: Double = 28, format: Format = .ndjson) {
    self.rows = rows
    self.chunks = chunks
    self.seed = seed
    self.duplicatesInPercent = duplicatesInPercent
    self.format = format
  }

  /// Most rows of one data set: ids stay within 12 digits, which keeps the size of a record bounded.
  public static let maxRows = 999_999_999_999
  /// Most chunks of one data set.
  public static let maxChunks = 1_000_000

  /// Refuses what cannot be made.
  ///
  /// - Throws: ``OhanaError`` of category `usage`, naming the option.
  public func validate() throws(OhanaError) {
    guard (0...Self.maxRows).contains(rows) else {
      throw OhanaError(.usage, "invalid-option", "--rows is out of range", fix: "use 0 to \(Self.maxRows)")
    }
    guard (1...Self.maxChunks).contains(chunks) else {
      throw OhanaError(.usage, "invalid-option", "--chunks is out of range", fix: "use 1 to \(Self.maxChunks)")
    }
    guard duplicatesInPercent >= 0, duplicatesInPercent <= 100 else {
      throw OhanaError(.usage, "invalid-option", "--duplicates is out of range", fix: "use 0% to 100%")
    }
  }

  /// The rows of chunk `chunk`, counted from 0. Chunks differ by one row at most.
  ///
  /// - Precondition: `chunk` is in `0 ..< chunks`.
  public func rows(ofChunk chunk: Int) -> Range<Int> {
    precondition(chunk >= 0 && chunk < chunks, "no such chunk")
    let share = rows / chunks
    let longer = rows % chunks
    let start = chunk * share + min(chunk, longer)
    return start..<(start + share + (chunk < longer ? 1 : 0))
  }
}
