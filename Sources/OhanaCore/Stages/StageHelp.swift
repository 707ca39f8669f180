/// What `ohana help STAGE` prints, and where the options come from that a stage's arguments are read with.
public struct StageHelp: Sendable {
  /// An option of a stage: what parsing accepts and what the help page says.
  public struct Option: Sendable {
    /// With its dashes: `--keep`.
    public var name: String
    /// What its value stands for, for example `first|last|none` or `FILE`; nil for a switch.
    public var value: String?
    public var text: String
    /// It may be given more than once.
    public var isRepeatable: Bool

    /// - Parameter value: stands for the value on the help page; nil for a switch.
    public init(_ name: String, _ value: String? = nil, _ text: String, isRepeatable: Bool = false) {
      self.name = name
      self.value = value
      self.text = text
      self.isRepeatable = isRepeatable
    }
  }

  /// A command to try.
  public struct Example: Sendable {
    /// A whole command line.
    public var command: String
    public var text: String
    /// - Parameter text: what the command is good for.
    public init(_ command: String, _ text: String) { (self.command, self.text) = (command, text) }
  }

  /// The verb: `dedupe`.
  public var name: String
  /// Its arguments: `--by KEY,… [--keep first|last|…]`.
  public var usage: String
  /// One sentence, for lists of stages.
  public var summary: String
  /// One paragraph.
  public var text: String
  /// In the order of the help page.
  public var options: [Option]
  /// In the order of the help page.
  public var examples: [Example]
  public var memoryClass: MemoryClass
  /// Where the class depends on arguments: how.
  public var memoryNote: String?

  /// - Parameter memoryNote: where some options need more than `memoryClass`, which.
  public init(
    name: String, usage: String, summary: String, text: String, options: [Option] = [], examples: [Example], memoryClass: MemoryClass,
    memoryNote: String? = nil
  ) {
    self.name = name
    self.usage = usage
    self.summary = summary
    self.text = text
    self.options = options
    self.examples = examples
    self.memoryClass = memoryClass
    self.memoryNote = memoryNote
  }
}
