/// A file name as the kernel sees it: bytes, of any encoding, without a NUL.
///
/// `description` shows it for people: bytes that are not UTF-8, and control characters, as `\xNN`.
public struct FilePath: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The name as the system has it: any bytes but NUL, in no particular encoding.
  public var bytes: [UInt8]

  /// - Parameter bytes: taken as they are.
  public init(bytes: [UInt8]) { self.bytes = bytes }
  /// The UTF-8 bytes of `text`.
  public init(_ text: String) { bytes = Array(text.utf8) }
  public init(stringLiteral value: String) { self.init(value) }

  /// Byte order, as globs and directories are read.
  public static func < (a: FilePath, b: FilePath) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }

  public var description: String {
    var text = ""
    var decoder = UTF8()
    var index = bytes.startIndex
    while index < bytes.endIndex {
      // Decode one scalar at a time, so that only the bytes at fault are escaped.
      var iterator = bytes[index...].prefix(4).makeIterator()
      decoder = UTF8()
      if case .scalarValue(let scalar) = decoder.decode(&iterator), scalar.value >= 0x20, scalar.value != 0x7f {
        text.unicodeScalars.append(scalar)
        index += UTF8.width(scalar)
      } else {
        let digits = Array("0123456789ABCDEF")
        text += "\\x\(digits[Int(bytes[index] >> 4)])\(digits[Int(bytes[index] & 15)])"
        index += 1
      }
    }
    return text
  }

  /// Calls `body` with the name as a C string.
  public func withCString<R, E: Error>(_ body: (UnsafePointer<CChar>) throws(E) -> R) throws(E) -> R {
    var terminated = bytes.map { CChar(bitPattern: $0) }
    terminated.append(0)
    var result: Result<R, E>?
    terminated.withUnsafeBufferPointer { buffer in
      do throws(E) { result = .success(try body(buffer.baseAddress!)) } catch { result = .failure(error) }
    }
    return try result!.get()
  }

  /// What stands behind the last `/`; the whole name where there is none.
  public var lastComponent: FilePath {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return self }
    return FilePath(bytes: Array(bytes[(slash + 1)...]))
  }

  /// The folder the file is in; `.` for a bare name.
  public var parent: FilePath {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == 0 ? "/" : FilePath(bytes: Array(bytes[..<slash]))
  }

  /// `name` in the folder of this name, with one `/` between.
  public func appending(_ name: FilePath) -> FilePath {
    bytes.last == UInt8(ascii: "/") ? FilePath(bytes: bytes + name.bytes) : FilePath(bytes: bytes + [UInt8(ascii: "/")] + name.bytes)
  }

  /// Compares bytes: no case folding, no normalisation.
  public func hasSuffix(_ suffix: String) -> Bool { bytes.reversed().starts(with: suffix.utf8.reversed()) }
}

extension FilePath: ExpressibleByStringInterpolation {}
