/// Which libraries pack and unpack deflate data (`--codec`). The contents are the same, the compressed bytes are not.
public enum DeflateCodec: String, Sendable, Codable, CaseIterable {
  /// ISA-L, and libdeflate for the higher levels.
  case fast
  /// zlib for everything: slower, everywhere the same.
  case zlib
}
