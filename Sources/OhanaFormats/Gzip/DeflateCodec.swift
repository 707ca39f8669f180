internal import CISAL
public import OhanaCore

/// Which libraries pack and unpack deflate data (`--codec`). The contents are the same, the compressed bytes are not.
public enum DeflateCodec: String, Sendable, Codable, CaseIterable {
  /// ISA-L, and libdeflate for the higher levels.
  case fast
  /// zlib for everything: slower, everywhere the same.
  case zlib

  /// Of ISA-L, whose inner state a checkpoint holds.
  public static var libraryVersion: String { "\(ISAL_MAJOR_VERSION).\(ISAL_MINOR_VERSION).\(ISAL_PATCH_VERSION)" }
}

/// A codec and a level it knows (`--codec`, `--level`).
///
/// | level | `fast` | `zlib` |
/// |---|---|---|
/// | 1, 2 | ISA-L's level 1, 2: one output on all x86-64 processors with SSE 4.1, another on arm64 | zlib's |
/// | 3 … 9 | libdeflate's level 1 … 7 | zlib's |
/// | 10 … 12 | libdeflate's level 8 … 10 | – |
public struct CompressionLevel: Sendable, Hashable {
  /// The library that makes it.
  public let codec: DeflateCodec
  /// As `--level` counts.
  public let level: Int

  /// ISA-L's level 1.
  public static let standard = CompressionLevel(unchecked: 1, codec: .fast)

  private init(unchecked level: Int, codec: DeflateCodec) { (self.level, self.codec) = (level, codec) }

  /// - Throws: `usage`/`level` for a level the codec does not have.
  public init(_ level: Int, codec: DeflateCodec = .fast) throws(OhanaError) {
    guard (1...12).contains(level) else {
      throw OhanaError(.usage, "level", "there is no compression level \(level)", fix: "--level takes 1 (fastest) to 12 (smallest)")
    }
    guard codec != .zlib || level <= 9 else {
      throw OhanaError(.usage, "level", "zlib has no compression level \(level)", fix: "use --level 1 to 9, or leave out --codec zlib")
    }
    self.init(unchecked: level, codec: codec)
  }
}
