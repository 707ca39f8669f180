internal import CPhoneNumber

/// The region that phone numbers without a country code belong to: two letters of ISO 3166.
public struct PhoneRegion: Sendable, Hashable, Codable, CustomStringConvertible {
  private let letters: UInt16

  /// A code in any case. nil for one that libphonenumber does not know.
  public init?(_ code: some Collection<UInt8>) {
    guard let letters = Self.letters(code), Self.handle(letters) != nil else { return nil }
    self.letters = letters
  }

  public var description: String {
    String(decoding: [UInt8(truncatingIfNeeded: letters >> 8), UInt8(truncatingIfNeeded: letters)], as: UTF8.self)
  }

  /// - Throws: `usage`/`unknown-region`.
  public init(parsing code: String) throws(OhanaError) {
    guard let region = PhoneRegion(code.utf8) else {
      throw OhanaError(
        .usage, "unknown-region", "'\(code)' is no region with phone numbers", fix: "write two letters as in ISO 3166: US, DE, GB")
    }
    self = region
  }

  @inline(__always) private static func letters(_ code: some Collection<UInt8>) -> UInt16? {
    guard code.count == 2 else { return nil }
    var letters: UInt16 = 0
    for byte in code {
      guard byte | 0x20 >= 0x61, byte | 0x20 <= 0x7a else { return nil }
      letters = letters << 8 | UInt16(byte & 0xdf)
    }
    return letters
  }

  @inline(__always) private static func handle(_ letters: UInt16) -> OpaquePointer? {
    ohana_phone_region_of(UInt8(truncatingIfNeeded: letters >> 8), UInt8(truncatingIfNeeded: letters))
  }

  @inline(__always) fileprivate var handle: OpaquePointer? { Self.handle(letters) }
}

/// How a phone number is written.
public enum PhoneFormat: String, Sendable, CaseIterable, Codable {
  /// `+15555555555`; behind it, as a key and in the place of a text, `;ext=` and an extension, where there is one.
  case e164
  /// `+1 555-555-5555`
  case international
  /// `(555) 555-5555`
  case national
  /// `tel:+1-555-555-5555`
  case rfc3966
}

/// libphonenumber, with a fast path for the usual spellings that answers as the library does.
///
/// Loaded by the first call: runs without phone numbers pay nothing for it. Any number of threads, each with a scratch of its own.
public enum PhoneNumbers {
  /// What tells the metadata in use from those of other releases: 16 hexadecimal digits.
  public static var metadataVersion: String { String(cString: ohana_phone_metadata_version()) }

  /// Appends the number in `text` in a format, and returns true; false, with `out` as it was, where there is none.
  ///
  /// - Parameters:
  ///   - text: decoded UTF-8, not in `out`. More than 250 bytes are no number.
  ///   - region: nil if numbers without a country code count as none.
  ///   - possibleOnly: a number that is too short, too long, or of use only within its area counts as none.
  /// - Complexity: E.164 of plain spellings some 30 ns; all else some 15 µs, remembered by the scratch for the texts met last.
  @discardableResult
  public static func append(
    _ format: PhoneFormat, of text: UnsafeBufferPointer<UInt8>, region: PhoneRegion?, possibleOnly: Bool, to out: ByteBuffer,
    scratch: TextScratch
  ) -> Bool {
    let form =
      switch format {
      case .e164: OHANA_PHONE_E164
      case .international: OHANA_PHONE_INTERNATIONAL
      case .national: OHANA_PHONE_NATIONAL
      case .rfc3966: OHANA_PHONE_RFC3966
      }
    return append(form, text, region, possibleOnly, to: out, scratch)
  }

  /// Appends the two letters of the region that the number in `text` belongs to. False where there is none, as for numbers that belong to
  /// no region.
  public static func appendCountry(
    of text: UnsafeBufferPointer<UInt8>, region: PhoneRegion?, to out: ByteBuffer, scratch: TextScratch
  ) -> Bool {
    append(OHANA_PHONE_COUNTRY, text, region, true, to: out, scratch)
  }

  /// Whether the number in `text` is a possible one.
  public static func isPossible(_ text: UnsafeBufferPointer<UInt8>, region: PhoneRegion?, scratch: TextScratch) -> Bool {
    let start = scratch.words.count
    defer { scratch.words.count = start }
    return append(OHANA_PHONE_E164, text, region, true, to: scratch.words, scratch)
  }

  @inline(__always)
  private static func append(
    _ form: ohana_phone_form, _ text: UnsafeBufferPointer<UInt8>, _ region: PhoneRegion?, _ possible: Bool, to out: ByteBuffer,
    _ scratch: TextScratch
  ) -> Bool {
    guard let base = text.baseAddress, text.count > 0 else { return false }
    out.reserve(Int(OHANA_PHONE_CAPACITY))
    let length = ohana_phone_format(region?.handle, base, text.count, form, possible, scratch.phones.handle, out.base + out.count)
    out.count += length
    return length > 0
  }
}

/// Answers of the library, remembered.
final class PhoneMemo {
  let handle = ohana_phone_memo_create()
  deinit { ohana_phone_memo_destroy(handle) }
}

extension PhoneNumbers {
  /// E.164 of a possible number by the fast path alone: nil where only the library can tell, empty where there is none. For tests.
  package static func fastE164(_ text: [UInt8], region: PhoneRegion?) -> String? {
    var answer = [UInt8](repeating: 0, count: Int(OHANA_PHONE_CAPACITY))
    let length = ohana_phone_fast_e164(region?.handle, text, text.count, &answer)
    return length < 0 ? nil : String(decoding: answer.prefix(Int(length)), as: UTF8.self)
  }

  /// The same by the library alone. For tests.
  package static func libraryE164(_ text: [UInt8], region: PhoneRegion?) -> String {
    var answer = [UInt8](repeating: 0, count: Int(OHANA_PHONE_CAPACITY))
    let length = ohana_phone_format_by_library(region?.handle, text, text.count, OHANA_PHONE_E164, true, &answer)
    return String(decoding: answer.prefix(length), as: UTF8.self)
  }

  /// The library's own example numbers, in E.164, with their regions' codes (none for numbers of no region). For tests.
  package static var examples: [(region: String, number: String)] {
    var examples: [(region: String, number: String)] = []
    var code: [CChar] = [0, 0, 0]
    var answer = [UInt8](repeating: 0, count: Int(OHANA_PHONE_CAPACITY))
    for index in 0... {
      for type in 0..<Int32(10) {
        let length = ohana_phone_example(index, type, &code, &answer)
        if length == 0 { return examples }
        if length > 1 {
          let region = String(decoding: code.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
          examples.append((region, String(decoding: answer.prefix(length), as: UTF8.self)))
        }
      }
    }
    return examples
  }
}
