internal import Synchronization

/// What `stats` found out about one top-level field.
public struct FieldStatistics: Sendable, Equatable {
  /// A frequent value, with how often it was met.
  public struct Frequent: Sendable, Equatable {
    /// The value as JSON text: a string in quotes, a number as spelled, an array or object without white space.
    public var json: String
    /// Records that hold it; at least so many where the list is an estimate.
    public var count: Int
    /// The value is longer than ``StatisticsStage/maxShownBytes``; `json` is a string with its beginning.
    public var isCut: Bool

    /// - Parameter isCut: the value is longer than `json` shows.
    public init(json: String, count: Int, isCut: Bool = false) { (self.json, self.count, self.isCut) = (json, count, isCut) }
  }

  /// Top-level key or column.
  public var name: String
  /// Records that hold the field, with null or any other value.
  public var present = 0
  /// Records that do not.
  public var missing = 0
  /// Records that hold it with null.
  public var null = 0
  /// Records that hold it with `""`.
  public var empty = 0
  /// Different values other than null: number 7 and string "7" are two.
  public var distinct = 0
  /// Standard error ``StatisticsStage/distinctStandardError``; exact otherwise.
  public var isDistinctEstimate = false
  /// Code points of the shortest and the longest text among strings and numbers; nil where there is none.
  public var minLength: Int?
  /// Of the longest value; nil where there is none.
  public var maxLength: Int?
  /// Up to five, the most frequent first, of equal counts the one met first.
  public var top: [Frequent] = []
  /// Another value may be more frequent than one of `top`.
  public var isTopEstimate = false

  /// Nothing counted yet.
  public init(name: String) { self.name = name }
}

/// What a `stats` stage found out; complete when its run is over.
public final class StatisticsReport: Sendable {
  private let found = Mutex<(fields: [FieldStatistics], records: Int)>(([], 0))

  init() {}

  /// In order of first appearance; columns of CSV in the order of the header.
  public var fields: [FieldStatistics] { found.withLock { $0.fields } }
  /// Records looked at.
  public var records: Int { found.withLock { $0.records } }

  func fill(_ fields: [FieldStatistics], records: Int) { found.withLock { $0 = (fields, records) } }
}
