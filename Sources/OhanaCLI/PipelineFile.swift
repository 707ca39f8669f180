#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import Ohana

/// A chain that is checked in: `ohana run -f pipeline.json`. JSON5, so comments and trailing commas are fine.
///
/// ```
/// {
///   inputs: ["exports/*.ndjson.gz"],
///   output: "clean.ndjson.gz",
///   options: { memory: "128M", overwrite: true, null: ["", "\\N"] },   // as on the command line, without dashes
///   stages: [
///     "dedupe --by email:email",                 // one string, split as a shell splits words
///     ["filter", "city = 'Oslo'"],               // or word by word
///   ],
/// }
/// ```
struct PipelineFile: Decodable {
  enum Words: Decodable {
    case line(String), words([String])
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let words = try? container.decode([String].self) { self = .words(words) } else { self = .line(try container.decode(String.self)) }
    }
  }
  enum OptionValue: Decodable {
    case values([String]), flag(Bool)
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let flag = try? container.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? container.decode(Int.self) {
        self = .values([String(number)])
      } else if let text = try? container.decode(String.self) {
        self = .values([text])
      } else {
        self = .values(try container.decode([String].self))
      }
    }
  }
  var inputs: [String]?
  var output: String?
  var options: [String: OptionValue]?
  var stages: [Words]?

  private enum Keys: String, CodingKey, CaseIterable { case inputs, output, options, stages }
  private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    for key in try decoder.container(keyedBy: AnyKey.self).allKeys where Keys(rawValue: key.stringValue) == nil {
      let near = NearMiss.best(for: key.stringValue, among: Keys.allCases.map(\.rawValue)).map { "did you mean \($0)? " } ?? ""
      throw OhanaError(
        .usage, "unknown-key", field: key.stringValue, "a pipeline file has no such key",
        fix: near + "there are inputs, output, options, stages; 'ohana help pipeline' explains the file")
    }
    let container = try decoder.container(keyedBy: Keys.self)
    inputs = try container.decodeIfPresent([String].self, forKey: .inputs)
    output = try container.decodeIfPresent(String.self, forKey: .output)
    options = try container.decodeIfPresent([String: OptionValue].self, forKey: .options)
    stages = try container.decodeIfPresent([Words].self, forKey: .stages)
  }

  /// Reads the file into a request.
  static func read(_ path: FilePath) throws -> RunRequest {
    let stream = try openByteStream(path).stream
    let (head, _) = try PrefixedByteStream.peek(stream, count: 1 << 20)
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    do {
      return try decoder.decode(PipelineFile.self, from: Data(head.bytes)).request()
    } catch var error as OhanaError {
      error.location = error.location ?? .init(path)
      throw error
    } catch let error as DecodingError {
      if case .dataCorrupted(let context) = error, context.codingPath.isEmpty {
        let fault = JSON5Fault(in: Array(head.bytes))
        throw OhanaError(
          .usage, "bad-pipeline", at: .init(path, line: fault?.line, byte: fault?.byte),
          "a pipeline file is a JSON5 object, and here \(fault?.expected ?? "something in it is not JSON5")",
          fix:
            "write { inputs: [\"FILE\"], stages: [\"STAGE ARGS\"] }, or leave out -f to read this file's records; 'ohana help pipeline' explains the file"
        )
      }
      throw OhanaError(.usage, "bad-pipeline", at: .init(path), explain(error), fix: "'ohana help pipeline' explains the file")
    }
  }

  private static func explain(_ error: DecodingError) -> String {
    func place(_ context: DecodingError.Context) -> String {
      context.codingPath.isEmpty
        ? "" : context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".") + ": "
    }
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return place(context) + "this is not the kind of value expected here"
    case .keyNotFound(let key, _): return "the key \(key.stringValue) is missing"
    case .dataCorrupted(let context):
      return place(context) + "this is not JSON5" + (context.underlyingError.map { ": \($0)".replacing("\n", with: " ") } ?? "")
    @unknown default: return "this cannot be read"
    }
  }

  private func request() throws -> RunRequest {
    var words: [FilePath] = []
    for (name, value) in (options ?? [:]).sorted(by: { $0.key < $1.key }) {
      switch value {
      case .flag(true): words.append(FilePath("--" + name))
      case .flag(false): break
      case .values(let values): for value in values { words += [FilePath("--" + name), FilePath(value)] }
      }
    }
    var parser = RunOptionParser()
    var rest = ArgumentWords(words)
    while let word = rest.take() { try parser.take(word, from: &rest) }
    parser.request.inputs = (inputs ?? []).map { FilePath($0) }
    parser.request.output = output.map { FilePath($0) } ?? parser.request.output
    parser.request.stages = try (stages ?? []).map { stage in
      switch stage {
      case .words(let words): try RunCommand.stage(words)
      case .line(let line): try RunCommand.stage(try ShellWords.split(line))
      }
    }
    return parser.request
  }
}

/// Splits a line into words as a shell does: blanks, single and double quotes, backslashes; nothing is expanded.
enum ShellWords {
  static func split(_ line: String) throws -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var characters = line.makeIterator()
    while let character = characters.next() {
      switch (character, quote) {
      case ("'", "'"?), ("\"", "\""?): quote = nil
      case (_, "'"?): word = (word ?? "") + String(character)
      case ("\\", _): word = (word ?? "") + (characters.next().map { String($0) } ?? "\\")
      case (_, "\""?): word = (word ?? "") + String(character)
      case ("'", nil), ("\"", nil):
        quote = character
        word = word ?? ""
      case (" ", nil), ("\t", nil), ("\n", nil):
        if let done = word { words.append(done) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    if quote != nil { throw OhanaError(.usage, "unclosed-quote", "a quote in '\(line)' is not closed") }
    if let word { words.append(word) }
    return words
  }
}
