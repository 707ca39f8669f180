extension FilePath: Codable {
  /// A string; a name that is no UTF-8 is an array of its bytes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.init(text)
    } else {
      self.init(bytes: try container.decode([UInt8].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let text = String(validating: bytes, as: UTF8.self) { try container.encode(text) } else { try container.encode(bytes) }
  }
}
