/// Numbers as users write them.
public enum Quantity {
  /// `64K`, `256M`, `4G`, `1.5G`, `1048576`; powers of 1,024; an optional `B` or `iB` behind the unit. nil: not a size.
  public static func bytes(_ text: String) -> Int? {
    var digits = Substring(text.lowercased())
    if digits.hasSuffix("ib") { digits = digits.dropLast(2) } else if digits.hasSuffix("b") { digits = digits.dropLast() }
    var shift = 0
    switch digits.last {
    case "k": shift = 10
    case "m": shift = 20
    case "g": shift = 30
    case "t": shift = 40
    default: break
    }
    if shift > 0 { digits = digits.dropLast() }
    guard let value = decimal(digits), value >= 0 else { return nil }
    let result = value * Double(1 << shift)
    return result < 9e18 ? Int(result) : nil
  }

  /// A whole number, not negative, with `_` or `,` between digits allowed.
  public static func count(_ text: String) -> Int? {
    let digits = text.filter { $0 != "_" && $0 != "," }
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return Int(digits)
  }

  /// `12.5%` → 12.5; nil where there is no percent sign or the number is not in 0…100.
  public static func percent(_ text: String) -> Double? {
    guard text.hasSuffix("%"), let value = decimal(text.dropLast()), value >= 0, value <= 100 else { return nil }
    return value
  }

  private static func decimal(_ text: Substring) -> Double? {
    guard let first = text.first, first.isNumber, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
    return Double(text)
  }

  /// `1,234,567`, for people.
  public static func grouped(_ number: Int) -> String {
    var digits = Array(String(abs(number)))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(",", at: index)
      index -= 3
    }
    return (number < 0 ? "-" : "") + String(digits)
  }

  /// `12.3 MiB`, for people.
  public static func sized(_ bytes: Int) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(bytes)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return unit == 0 ? "\(bytes) bytes" : "\(fixed(value, 1)) \(units[unit])"
  }

  /// A decimal number with `digits` places, without a locale.
  public static func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "-" }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * scale).rounded())
    guard digits > 0 else { return String(scaled) }
    let text = String(abs(scaled))
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    return (scaled < 0 ? "-" : "") + padded.dropLast(digits) + "." + padded.suffix(digits)
  }
}
