internal import Ohana

/// Command line words as the kernel gave them: bytes, taken from the front.
struct ArgumentWords {
  fileprivate var words: ArraySlice<FilePath>

  init(_ words: [FilePath]) { self.words = words[...] }

  var isEmpty: Bool { words.isEmpty }
  var next: FilePath? { words.first }
  mutating func take() -> FilePath? { words.popFirst() }
  mutating func takeRest() -> [FilePath] {
    defer { words = [] }
    return Array(words)
  }

  /// - Throws: `usage` if a word is left.
  func expectNoMore(after command: String) throws(OhanaError) {
    guard let surplus = next else { return }
    throw OhanaError(.usage, "surplus-argument", "'\(surplus)' is not expected behind 'ohana \(command)'", fix: "leave it out")
  }
}

extension FilePath {
  /// For options and names that are text; bytes that are not UTF-8 become U+FFFD and then match nothing.
  var text: String { String(decoding: bytes, as: UTF8.self) }
  /// `--name` or `-x`, not `-` alone, not a negative number.
  var isOption: Bool {
    guard bytes.first == UInt8(ascii: "-"), bytes.count > 1 else { return false }
    return !(bytes[1] >= UInt8(ascii: "0") && bytes[1] <= UInt8(ascii: "9"))
  }
  /// An option's name cannot look like this, but an expression can: `-id < -3`.
  var looksLikeExpression: Bool {
    bytes.prefix { $0 != UInt8(ascii: "=") }.contains { !($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a || $0 == UInt8(ascii: "-") || $0 >= 0x80) }
  }
  /// The part before `=` of a long option, and the part behind it.
  var optionParts: (name: String, value: FilePath?) {
    guard bytes.starts(with: "--".utf8), let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return (text, nil) }
    return (String(decoding: bytes[..<equals], as: UTF8.self), FilePath(bytes: Array(bytes[(equals + 1)...])))
  }
}

/// Applies run options, and complains about unknown ones.
struct RunOptionParser {
  var request: RunRequest
  /// Options a verb has beside those of every run.
  var extra: [String: String] = [:]
  private let extraOptions: [StageHelp.Option]
  /// Run options that the verb takes; nil: all.
  private let allowed: Set<String>?
  private var given: Set<String> = []

  /// - Parameters:
  ///   - request: what holds where the line says nothing.
  ///   - extra: options of the verb itself.
  ///   - allowed: run options that mean something to the verb; nil: all.
  init(_ request: RunRequest = RunRequest(), extra: [StageHelp.Option] = [], allowed: Set<String>? = nil) {
    self.request = request
    extraOptions = extra
    self.allowed = allowed
  }

  /// Takes one option with its value off `words`.
  mutating func take(_ word: FilePath, from words: inout ArgumentWords, otherNames: [String] = []) throws {
    let (name, inline) = word.optionParts
    func value(_ placeholder: String?) throws -> FilePath {
      guard let placeholder else {
        if inline != nil { throw OhanaError(.usage, "unwanted-value", "\(name) takes no value") }
        return ""
      }
      if let inline { return inline }
      guard let next = words.take() else {
        throw OhanaError(.usage, "missing-value", "\(name) needs a value", fix: "\(name) \(placeholder)")
      }
      return next
    }
    if let option = extraOptions.first(where: { $0.name == name }) {
      if extra[name] != nil, !option.isRepeatable { throw OhanaError(.usage, "repeated-option", "\(name) is given twice") }
      extra[name] = try value(option.value).text
      return
    }
    guard let option = RunOption.named(name) else {
      let known = RunOption.all.map(\.name) + extraOptions.map(\.name) + otherNames
      let near = NearMiss.best(for: name, among: known).map { "did you mean \($0)? " } ?? ""
      let file = word.bytes.starts(with: "--".utf8) ? "" : "; a file of this name goes behind '--'"
      throw OhanaError(.usage, "unknown-option", "there is no option \(word)", fix: near + "'ohana help run' lists them" + file)
    }
    if let allowed, !allowed.contains(option.name) {
      throw OhanaError(.usage, "unwanted-option", "\(option.name) means nothing here", fix: "leave it out")
    }
    if !option.isRepeatable, !given.insert(option.name).inserted {
      throw OhanaError(.usage, "repeated-option", "\(option.name) is given twice", fix: "leave one of them out")
    }
    try option.set(&request, try value(option.value))
  }
}

extension ArgumentWords {
  /// The value of `-f` or `--file` in front of the first `then`.
  var pipelineFile: FilePath? {
    for (index, word) in zip(words.indices, words) {
      if word == "then" || word == "--" { return nil }
      if word == "-f" || word == "--file" { return words.indices.contains(index + 1) ? words[index + 1] : nil }
      if word.bytes.starts(with: "--file=".utf8) { return word.optionParts.value }
    }
    return nil
  }

  /// `--help` or `-h` stands in front of a `--`.
  var asksForHelp: Bool {
    for word in words {
      if word == "--" { return false }
      if word == "--help" || word == "-h" { return true }
    }
    return false
  }
}
