internal import CICU
public import OhanaCore

/// An encoding of input text other than UTF-8.
public struct InputEncoding: Sendable, Equatable {
  /// As the converter library knows it.
  public let name: String

  /// By a user's word for it: `utf-16le`, `utf-16be`, `windows-1252`, `latin1`, and whatever other name ICU knows. nil for UTF-8.
  ///
  /// - Throws: `usage` for a name nobody knows.
  public static func named(_ name: String) throws(OhanaError) -> InputEncoding? {
    let plain = name.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " }
    switch plain {
    case "utf8", "ascii", "usascii": return nil
    case "utf16", "utf16le": return InputEncoding(name: "UTF-16LE")
    case "utf16be": return InputEncoding(name: "UTF-16BE")
    case "latin1", "iso88591": return InputEncoding(name: "ISO-8859-1")
    case "windows1252", "cp1252", "ansi": return InputEncoding(name: "windows-1252")
    default: break
    }
    guard !plain.isEmpty, let converter = ohana_icu_converter_open(name) else {  // the empty name would be the environment's
      throw OhanaError(
        .usage, "unknown-encoding", "there is no encoding called '\(name)'", fix: "use utf-8, utf-16le, utf-16be, windows-1252 or latin1")
    }
    ohana_icu_converter_close(converter)
    return InputEncoding(name: name)
  }

  /// What a byte order mark at the beginning of a text says; nil for none, and for that of UTF-8.
  public static func marked(by head: UnsafeBufferPointer<UInt8>) -> InputEncoding? {
    // UTF-32 first: its mark begins with that of UTF-16, and a text that begins with NUL is the lesser risk.
    if head.starts(with: [0xff, 0xfe, 0, 0]) { return InputEncoding(name: "UTF-32LE") }
    if head.starts(with: [0, 0, 0xfe, 0xff]) { return InputEncoding(name: "UTF-32BE") }
    guard head.count >= 2 else { return nil }
    switch (head[0], head[1]) {
    case (0xff, 0xfe): return InputEncoding(name: "UTF-16LE")
    case (0xfe, 0xff): return InputEncoding(name: "UTF-16BE")
    default: return nil
    }
  }

  /// The encoding of a text that begins with `head`: what its byte order mark says, else what the user does (`name`). nil for UTF-8.
  ///
  /// - Throws: `usage` for a name nobody knows, whatever the mark.
  public static func of(_ head: UnsafeBufferPointer<UInt8>, named name: String?) throws(OhanaError) -> InputEncoding? {
    var named: InputEncoding?
    if let name { named = try Self.named(name) }
    if head.starts(with: [0xef, 0xbb, 0xbf]) { return nil }
    return marked(by: head) ?? named
  }
}
