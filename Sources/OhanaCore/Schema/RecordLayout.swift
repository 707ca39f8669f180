/// Which members or columns a record is written with, at one point of the plan. Fixed before the run; no record can change it.
public struct RecordLayout: Sendable, Equatable {
  /// A field of the output: the name it is written under, and the slot its value is in.
  public struct Entry: Sendable, Equatable {
    /// Key or column name, decoded.
    public var name: [UInt8]
    /// Index in ``RecordBatch/fields`` of the record's row.
    public var slot: Int
    /// `followsSource` only: the value is written where the record holds such a member, and never added to a record that does not.
    public var onlyReplaces = false
    /// `followsSource` only: the value stands beside that of this slot, and only records that hold that one have it.
    public var companion: Int?
    /// An entry that every record gets.
    public init(name: [UInt8], slot: Int) { (self.name, self.slot) = (name, slot) }
  }

  /// True: a record has the members its source had, but for the edits below. False: it has just `entries`, in their order.
  public var followsSource: Bool
  /// `followsSource` only: slots whose member is left out.
  public var removed: [Int] = []
  /// `followsSource` only: slots whose member is written under another key, in its old place.
  public var renamed: [Entry] = []
  /// `followsSource`: values that stages set; they replace the member of that slot where the record holds one and follow the others,
  /// in this order, where it does not. Otherwise: all members.
  public var entries: [Entry] = []

  /// A layout without entries: the source's as it is, or, where it does not follow the source, of empty records.
  public init(followsSource: Bool) { self.followsSource = followsSource }

  /// No stage touched the record's shape: an unchanged record may be written as its own bytes.
  public var isSourceAsIs: Bool { followsSource && removed.isEmpty && renamed.isEmpty && entries.isEmpty }

  /// Slots a writer looks at.
  public var slots: [Int] { removed + renamed.map(\.slot) + entries.map(\.slot) }
}
