extension JSONScanner {
  /// Appends JSON text without white space between its tokens and with minimal escapes in its strings, so that spellings of one text
  /// become one. Numbers keep their spelling and members their order.
  ///
  /// - Parameters:
  ///   - json: a JSON text that a reader has checked; not inside `out` or `scratch`.
  ///   - scratch: is emptied.
  /// - Complexity: O(bytes).
  static func appendCanonical(_ json: UnsafeBufferPointer<UInt8>, to out: ByteBuffer, scratch: ByteBuffer) {
    guard let text = json.baseAddress.map({ UnsafePointer($0) }) else { return }
    if memchr(text, Int32(UInt8(ascii: "\\")), json.count) == nil { return appendCompact(json, to: out) }
    var index = 0
    while index < json.count {
      let byte = text[index]
      if byte == UInt8(ascii: "\"") {
        let (end, hasEscape) = endOfString(text, index)
        if hasEscape {
          scratch.removeAll()
          TextDecoding.appendJSON(UnsafeBufferPointer(start: text + index + 1, count: end - index - 2), to: scratch)
          JSONEscaping.appendQuoted(scratch.bytes, to: out)
        } else {
          out.append(text + index, count: end - index)
        }
        index = end
      } else {
        if byte > 0x20 { out.append(byte) }
        index += 1
      }
    }
  }
}
