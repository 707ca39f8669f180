internal import CCrypto
internal import CXXHash

/// XXH3 (64 bits) of bytes that come piece by piece. About 20 GB/s.
public final class XXH3Digest: @unchecked Sendable {  // because one piece of work at a time uses it
  private let state: OpaquePointer

  /// The sum of no bytes.
  public init() {
    guard let state = XXH3_createState() else { preconditionFailure("no memory for a checksum") }
    self.state = state
    XXH3_64bits_reset(state)
  }
  deinit { XXH3_freeState(state) }

  /// Adds bytes; how they are cut does not matter.
  public func update(_ bytes: UnsafeRawBufferPointer) {
    if let start = bytes.baseAddress { XXH3_64bits_update(state, start, bytes.count) }
  }
  /// Adds the first `count` bytes of a file; false where it has fewer, or cannot be read.
  package func update(reading descriptor: Int32, count: Int) -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(max(count, 1), 1 << 18), alignment: 64)
    defer { buffer.deallocate() }
    var done = 0
    while done < count {
      let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, count - done)])
      guard readFully(descriptor, at: done, into: wanted) == wanted.count else { return false }
      update(UnsafeRawBufferPointer(wanted))
      done += wanted.count
    }
    return true
  }

  /// The sum of all bytes so far; more may follow.
  public var value: UInt64 { XXH3_64bits_digest(state) }

  /// The sum of these bytes alone.
  public static func value(of bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { XXH3_64bits($0.baseAddress, $0.count) } }
}

/// SHA-256 of bytes that come piece by piece.
public final class SHA256Digest {
  private let context: OpaquePointer

  /// The digest of no bytes.
  public init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      preconditionFailure("the OpenSSL library cannot compute SHA-256")
    }
    self.context = context
  }
  deinit { EVP_MD_CTX_free(context) }

  /// Adds bytes; how they are cut does not matter.
  public func update(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

  /// In hexadecimal. Called once.
  public func finish() -> String {
    let digits = Array("0123456789abcdef")
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(context, &digest, nil)
    return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
