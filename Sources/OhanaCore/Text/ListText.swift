/// Text that stands for a list: a cell of CSV holds a JSON array where a list did not fit otherwise, and texts joined by `;` where it did.
package enum ListText {
  /// Where the JSON array begins and ends that the text is, but for white space around it; nil where it is none.
  ///
  /// - Complexity: O(bytes) for text in brackets, O(1) for most others.
  package static func array(in text: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
    var range = 0..<text.count
    while let start = range.first, text[start] <= 0x20 { range = start + 1..<range.upperBound }
    while let end = range.last, text[end] <= 0x20 { range = range.lowerBound..<end }
    guard range.count > 1, text[range.lowerBound] == UInt8(ascii: "["), text[range.upperBound - 1] == UInt8(ascii: "]") else { return nil }
    return JSONValidator().firstFault(in: UnsafeBufferPointer(rebasing: text[range])) == nil ? range : nil
  }

  /// Whether the text begins as JSON's arrays and objects do.
  package static func looksLikeJSON(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = text.first(where: { $0 > 0x20 }) else { return false }
    return first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
  }

  /// Appends the texts between semicolons as a JSON array of those that are not empty.
  package static func appendArray(ofTexts text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) {
    let start = out.count
    for piece in text.split(separator: UInt8(ascii: ";")) {
      out.append(out.count == start ? UInt8(ascii: "[") : UInt8(ascii: ","))
      JSONEscaping.appendQuoted(UnsafeBufferPointer(rebasing: piece), to: out)
    }
    out.append(out.count == start ? "[]" : "]")
  }
}

extension Value {
  /// The elements of a list: of an array, or of text that is one in JSON.
  var elements: [Value]? {
    switch self {
    case .array(let elements): return elements
    case .string(var text):
      guard text.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "[") else { return nil }
      return text.withUTF8 { bytes in
        guard let range = ListText.array(in: bytes) else { return nil }
        let (span, _) = JSONScanner.value(in: bytes.baseAddress!, at: range.lowerBound)
        guard case .array(let elements) = Value(span, in: bytes.baseAddress!, ByteBuffer()) else { return nil }
        return elements
      }
    default: return nil
    }
  }
}
