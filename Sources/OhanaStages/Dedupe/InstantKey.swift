internal import OhanaCore

/// ISO 8601 instants: `2024-05-01`, `2024-05-01T10:11:12.5+02:00`, `20240501T101112Z`. Without a zone they are UTC, without a time midnight.
///
/// A blank may stand for the `T`, seconds and their fraction (of any length, to the nanosecond) may be missing, and so may the zone's
/// minutes. Days are those of the Gregorian calendar, carried back; 24:00 is the next day's midnight, and a leap second the next
/// minute's first.
enum InstantKey {
  struct Instant: Equatable {
    /// From 1970-01-01T00:00:00Z.
    var seconds: Int64
    var nanoseconds: UInt32
  }

  /// Appends 12 bytes that compare as instants do; false, with nothing appended, if `text` is none.
  static func append(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) -> Bool {
    guard let instant = parse(text) else { return false }
    let bits = UInt64(bitPattern: instant.seconds) ^ 1 << 63
    for shift in stride(from: UInt64(56), through: 0, by: -8) { out.append(UInt8(truncatingIfNeeded: bits >> shift)) }
    for shift in stride(from: UInt32(24), through: 0, by: -8) { out.append(UInt8(truncatingIfNeeded: instant.nanoseconds >> shift)) }
    return true
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Instant? {
    var scanner = Scanner(bytes: text)
    scanner.skipBlanks()
    guard let year = scanner.number(digits: 4) else { return nil }
    let isExtended = scanner.take("-")
    guard let month = scanner.number(digits: 2), !isExtended || scanner.take("-"), let day = scanner.number(digits: 2),
      (1...12).contains(month), (1...daysInMonth(month, year)).contains(day)
    else { return nil }
    var instant = Instant(seconds: Int64(days(year, month, day)) * 86_400, nanoseconds: 0)
    scanner.skipTrailingBlanks()
    if scanner.isAtEnd { return isExtended ? instant : nil }  // 20240501 is a number
    guard scanner.take("T") || scanner.take("t") || scanner.take(" ") else { return nil }
    guard let hour = scanner.number(digits: 2) else { return nil }
    var minute = 0
    var second = 0
    let hasColon = scanner.take(":")
    if let found = scanner.number(digits: 2) {
      minute = found
      if hasColon ? scanner.take(":") : scanner.isAtDigit {
        guard let found = scanner.number(digits: 2) else { return nil }
        second = found
        if scanner.take(".") || scanner.take(",") {
          guard let fraction = scanner.fraction() else { return nil }
          instant.nanoseconds = fraction
        }
      }
    } else if hasColon {
      return nil
    }
    guard hour < 24 || hour == 24 && minute == 0 && second == 0 && instant.nanoseconds == 0, minute < 60, second <= 60 else { return nil }
    instant.seconds += Int64(hour * 3600 + minute * 60 + second)
    _ = scanner.take(" ")
    if scanner.isAtEnd || scanner.take("Z") || scanner.take("z") { return scanner.isAtEnd ? instant : nil }
    let isEast = scanner.take("+")
    guard isEast || scanner.take("-"), let zoneHour = scanner.number(digits: 2) else { return nil }
    var zoneMinute = 0
    if scanner.take(":") || !scanner.isAtEnd {
      guard let found = scanner.number(digits: 2) else { return nil }
      zoneMinute = found
    }
    guard scanner.isAtEnd, zoneHour < 24, zoneMinute < 60 else { return nil }
    let offset = Int64(zoneHour * 3600 + zoneMinute * 60)
    instant.seconds -= isEast ? offset : -offset
    return instant
  }

  private static func daysInMonth(_ month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days from 1970-01-01; years begin in March, so that the leap day is the last.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month > 2 ? year : year - 1
    let era = year >= 0 ? year / 400 : (year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private struct Scanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var index = 0
    var end: Int

    init(bytes: UnsafeBufferPointer<UInt8>) {
      self.bytes = bytes
      end = bytes.count
    }

    var isAtEnd: Bool { index >= end }
    var isAtDigit: Bool { index < end && bytes[index] &- 0x30 <= 9 }

    mutating func skipBlanks() {
      while index < end, bytes[index] == 0x20 { index += 1 }
      skipTrailingBlanks()
    }

    mutating func skipTrailingBlanks() {
      while end > index, bytes[end - 1] == 0x20 { end -= 1 }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard index < end, bytes[index] == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    mutating func number(digits: Int) -> Int? {
      guard end - index >= digits else { return nil }
      var value = 0
      for offset in 0..<digits {
        let digit = bytes[index + offset] &- 0x30
        guard digit <= 9 else { return nil }
        value = value * 10 + Int(digit)
      }
      index += digits
      return value
    }

    mutating func fraction() -> UInt32? {
      guard isAtDigit else { return nil }
      var value: UInt32 = 0
      var count = 0
      while isAtDigit {
        if count < 9 { value = value * 10 + UInt32(bytes[index] &- 0x30) }
        count += 1
        index += 1
      }
      while count < 9 {
        value *= 10
        count += 1
      }
      return value
    }
  }
}
