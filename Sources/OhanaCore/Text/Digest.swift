internal import CCrypto

/// A checksum of OpenSSL, fetched once since fetching costs more than a short text's checksum.
package final class Digest: @unchecked Sendable {  // because a fetched EVP_MD is immutable
  private let algorithm: OpaquePointer
  /// In bytes.
  package let size: Int

  /// - Parameter name: as OpenSSL has it, `SHA256`; nil for one that this OpenSSL does not give.
  package init?(_ name: String) {
    guard let algorithm = EVP_MD_fetch(nil, name, nil) else { return nil }
    self.algorithm = algorithm
    size = Int(EVP_MD_get_size(algorithm))
  }
  deinit { EVP_MD_free(algorithm) }

  /// Writes `size` bytes.
  package func write(of text: UnsafeBufferPointer<UInt8>, to digest: UnsafeMutablePointer<UInt8>) {
    let isDone = EVP_Digest(text.baseAddress ?? StaticString("").utf8Start, text.count, digest, nil, algorithm, nil)
    precondition(isDone == 1, "OpenSSL cannot allocate a checksum context")
  }

  /// Writes `2 * size` hexadecimal digits.
  func writeHex(of text: UnsafeBufferPointer<UInt8>, to hex: UnsafeMutablePointer<UInt8>) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { digest in
      write(of: text, to: digest.baseAddress!)
      let digits = StaticString("0123456789abcdef").utf8Start
      for index in 0..<size {
        hex[2 * index] = digits[Int(digest[index] >> 4)]
        hex[2 * index + 1] = digits[Int(digest[index] & 15)]
      }
    }
  }
}
