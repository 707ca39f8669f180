/// What `normalize` makes of a text.
public enum NormalForm: Sendable, Hashable {
  /// The text of a kind of equality.
  case key(EqualityKind)
  /// White space trimmed and its runs made one blank.
  case space
  /// Unicode's composed forms (UAX 15); full case mapping without locale.
  case nfc, nfkc, lower, upper

  /// Every form's word, for help and messages.
  public static let words = ["space", "email", "email/provider", "phone", "phone/REGION", "name", "fold", "lower", "upper", "nfc", "nfkc"]

  /// - Throws: `usage`/`unknown-kind`, with the nearest one.
  public init(parsing word: String) throws(OhanaError) {
    switch word {
    case "space": self = .space
    case "nfc": self = .nfc
    case "nfkc": self = .nfkc
    case "lower": self = .lower
    case "upper": self = .upper
    default:
      guard word != "exact", word.hasPrefix("phone/") || EqualityKind.words.contains(word), word != "phone/REGION" else {
        let near = NearMiss.best(for: word, among: Self.words).map { "did you mean \($0)? " } ?? ""
        throw OhanaError(
          .usage, "unknown-kind", "'\(word)' is no normal form", fix: near + "there are " + Self.words.joined(separator: ", "))
      }
      self = .key(try EqualityKind(parsing: word))
    }
  }

  /// Appends the normal form of `text` to `out`. Returns false, with `out` as it was, where the text has none.
  ///
  /// - Parameter text: decoded UTF-8, not inside `out` or `scratch`.
  public func append(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer, scratch: TextScratch) -> Bool {
    switch self {
    case .key(.phone(let region)):
      return PhoneNumbers.append(.e164, of: text, region: region, possibleOnly: true, to: out, scratch: scratch)
    case .key(let kind): return appendKeyText(kind, text, to: out, scratch: scratch)
    case .space:
      appendSpaced(text, to: out, scratch: scratch)
      return true
    case .nfc, .nfkc, .lower, .upper:
      scratch.load(text)
      switch self {
      case .nfc: scratch.nfc()
      case .nfkc: scratch.nfkc()
      case .lower: scratch.lower()
      default: scratch.upper()
      }
      scratch.appendUnits(to: out)
      return true
    }
  }

  private func appendSpaced(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer, scratch: TextScratch) {
    guard let base = text.baseAddress else { return }
    out.reserve(text.count)
    let start = out.count
    var isBlankDue = false
    var index = 0
    while index < text.count {
      let begin = index
      let byte = base[index]
      let isSpace: Bool
      if byte < 0x80 {
        index += 1
        isSpace = isASCIISpace(byte)
      } else {
        isSpace = isWhiteSpace(scalarUTF8(base, &index))
      }
      if isSpace {
        isBlankDue = out.count > start
        continue
      }
      if isBlankDue { out.append(0x20) }
      isBlankDue = false
      out.append(base + begin, count: index - begin)
    }
  }
}
