/// The words after a stage's name, sorted into options and the rest by what the stage's help declares.
///
/// `--opt value` and `--opt=value` are the same; `--` ends the options. A single dash starts no option, since expressions may.
public struct StageArguments: Sendable {
  /// Name of the stage, for messages.
  public let stage: String
  /// What is no option, in order.
  public private(set) var positionals: [String] = []
  /// The options in the order they are written.
  public private(set) var given: [(name: String, value: String)] = []
  private let usage: String

  /// - Throws: `usage` for an unknown option (with the nearest one), a missing or unwanted value, an option given twice.
  public init(_ words: [String], for help: StageHelp) throws(OhanaError) {
    stage = help.name
    usage = "\(help.name) \(help.usage)"
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      if word == "--" {
        positionals += words[index...]
        break
      }
      guard word.hasPrefix("--"), word.utf8.dropFirst(2).first.map({ $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a }) == true else {
        positionals.append(word)
        continue
      }
      let name = String(word.prefix { $0 != "=" })
      let inline: String? = name.utf8.count < word.utf8.count ? String(word.dropFirst(name.count + 1)) : nil
      guard let option = help.options.first(where: { $0.name == name }) else {
        let near = NearMiss.best(for: name, among: help.options.map(\.name)).map { "did you mean \($0)? " } ?? ""
        throw problem("unknown-option", "there is no option \(name)", fix: near + "usage: \(usage)")
      }
      if !option.isRepeatable, has(name) { throw problem("repeated-option", "\(name) is given twice", fix: "leave one of them out") }
      if option.value == nil {
        if inline != nil { throw problem("unwanted-value", "\(name) takes no value", fix: "usage: \(usage)") }
        given.append((name, ""))
      } else if let inline {
        given.append((name, inline))
      } else {
        guard index < words.count else { throw problem("missing-value", "\(name) needs a value", fix: "usage: \(usage)") }
        given.append((name, words[index]))
        index += 1
      }
    }
  }

  /// - Parameter option: with its dashes, as in ``given``.
  public func has(_ option: String) -> Bool { given.contains { $0.name == option } }
  /// The value of an option, the last where there are several; empty for a switch, nil where it is not given.
  public func value(_ option: String) -> String? { given.last { $0.name == option }?.value }
  /// Values of a repeatable option, in order.
  public func values(_ option: String) -> [String] { given.filter { $0.name == option }.map(\.value) }

  /// - Throws: `usage` unless there is just one positional argument.
  public func single(_ what: String) throws(OhanaError) -> String {
    if positionals.isEmpty { throw problem("missing-argument", "\(what) is missing", fix: "usage: \(usage)") }
    if positionals.count > 1 {
      throw problem("surplus-argument", "there is more than one argument where just \(what) is expected", fix: "put quotes around it")
    }
    return positionals[0]
  }

  /// - Throws: `usage` if there is any positional argument.
  public func noPositionals() throws(OhanaError) {
    if !positionals.isEmpty {
      throw problem("surplus-argument", "'\(positionals[0])' is not expected here", fix: "usage: \(usage)")
    }
  }

  /// The value of `option` as a whole number of at least `least`.
  public func number(_ option: String, atLeast least: Int = 0) throws(OhanaError) -> Int? {
    guard let text = value(option) else { return nil }
    guard let number = Int(text), number >= least else {
      throw problem("bad-value", "\(option) '\(text)' is not a whole number of at least \(least)")
    }
    return number
  }

  /// The value of `option` as one of an enumeration's words.
  public func choice<Choice: RawRepresentable<String> & CaseIterable>(_ option: String, of type: Choice.Type) throws(OhanaError) -> Choice?
  {
    guard let text = value(option) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let known = Choice.allCases.map(\.rawValue)
    let near = NearMiss.best(for: text, among: known).map { "did you mean \($0)? " } ?? ""
    throw problem("bad-value", "\(option) cannot be '\(text)'", fix: near + "there are " + known.joined(separator: ", "))
  }

  /// A usage error that names the stage.
  public func problem(_ code: String, _ text: String, fix: String = "") -> OhanaError {
    OhanaError(.usage, code, "\(stage): \(text)", fix: fix)
  }
}
