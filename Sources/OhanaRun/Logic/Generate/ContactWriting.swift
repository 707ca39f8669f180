/// A draft's record in one of the formats, at `cursor`.
struct ContactWriting: BitwiseCopyable {
  let lexicon: Lexicon.View

  // MARK: NDJSON

  @inline(__always) func putNDJSON(_ draft: ContactDraft, _ cursor: inout ByteCursor) {
    cursor.put("{\"id\":")
    cursor.put(decimal: draft.id)
    for index in GeneratedField.afterID {
      let field = GeneratedField(rawValue: index).unsafelyUnwrapped
      let value = draft.values[index]
      guard value.state != .missing else { continue }
      cursor.put(0x2C)
      putKey(field, &cursor)
      if value.state == .null {
        cursor.put("null")
      } else if field == .tags {
        putTagArray(draft.tags, isEscaped: draft.isEscaped, &cursor)
      } else if field == .verified {
        cursor.put(value.start, count: value.count)
      } else {
        cursor.put(0x22)
        if draft.isEscaped {
          putASCII(value.start, count: value.count, &cursor)
        } else if value.mayNeedQuoting {
          putEscaped(value.start, count: value.count, &cursor)
        } else {
          cursor.put(value.start, count: value.count)
        }
        cursor.put(0x22)
      }
    }
    cursor.put("}\n")
  }

  @inline(__always) private func putKey(_ field: GeneratedField, _ cursor: inout ByteCursor) {
    switch field {
    case .id: cursor.put("\"id\":")
    case .first: cursor.put("\"first\":")
    case .last: cursor.put("\"last\":")
    case .email: cursor.put("\"email\":")
    case .phone: cursor.put("\"phone\":")
    case .company: cursor.put("\"company\":")
    case .street: cursor.put("\"street\":")
    case .city: cursor.put("\"city\":")
    case .region: cursor.put("\"region\":")
    case .postal: cursor.put("\"postal\":")
    case .country: cursor.put("\"country\":")
    case .image: cursor.put("\"image\":")
    case .tags: cursor.put("\"tags\":")
    case .verified: cursor.put("\"verified\":")
    case .updatedAt: cursor.put("\"updated_at\":")
    }
  }

  private func putTagArray(_ tags: UInt16, isEscaped: Bool, _ cursor: inout ByteCursor) {
    cursor.put(0x5B)
    var rest = tags
    while rest != 0 {
      let slice = lexicon.words[Int(lexicon.tags.first) + rest.trailingZeroBitCount].plain
      rest &= rest &- 1
      cursor.put(0x22)
      let start = lexicon.text + Int(slice.offset)
      if isEscaped { putASCII(start, count: Int(slice.length), &cursor) } else { cursor.put(start, count: Int(slice.length)) }
      cursor.put(0x22)
      if rest != 0 { cursor.put(0x2C) }
    }
    cursor.put(0x5D)
  }

  /// With the escapes that JSON demands.
  private func putEscaped(_ start: UnsafePointer<UInt8>, count: Int, _ cursor: inout ByteCursor) {
    for index in 0..<count {
      let byte = start[index]
      if byte == 0x22 || byte == 0x5C {
        cursor.put(0x5C)
        cursor.put(byte)
      } else if byte == 0x0A {
        cursor.put("\\n")
      } else {
        cursor.put(byte)
      }
    }
  }

  /// With `\uXXXX` for all but ASCII, and slashes escaped too.
  @inline(never) private func putASCII(_ start: UnsafePointer<UInt8>, count: Int, _ cursor: inout ByteCursor) {
    for scalar in String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self).unicodeScalars {
      switch scalar {
      case "\"", "\\", "/":
        cursor.put(0x5C)
        cursor.put(UInt8(scalar.value))
      case "\n": cursor.put("\\n")
      default:
        if scalar.isASCII {
          cursor.put(UInt8(scalar.value))
        } else {
          for unit in UTF16.encode(scalar)! {
            cursor.put("\\u")
            for shift in stride(from: UInt16(12), through: 0, by: -4) {
              let digit = UInt8(unit >> shift & 15)
              cursor.put(digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
          }
        }
      }
    }
  }

  // MARK: CSV

  /// The names of the columns, and the line end.
  static var csvHeader: String { GeneratedField.allCases.map { "\($0.name)" }.joined(separator: ",") + "\n" }

  @inline(__always) func putCSV(_ draft: ContactDraft, _ cursor: inout ByteCursor) {
    cursor.put(decimal: draft.id)
    for index in GeneratedField.afterID {
      let field = GeneratedField(rawValue: index).unsafelyUnwrapped
      cursor.put(0x2C)
      let value = draft.values[index]
      guard value.state == .text else { continue }
      if field == .tags {
        putTagCell(draft.tags, &cursor)
      } else if value.count == 0 {
        cursor.put("\"\"")
      } else if value.mayNeedQuoting {
        putQuoted(value.start, count: value.count, &cursor)
      } else {
        cursor.put(value.start, count: value.count)
      }
    }
    cursor.put(0x0A)
  }

  private func putTagCell(_ tags: UInt16, _ cursor: inout ByteCursor) {
    var rest = tags
    while rest != 0 {
      let slice = lexicon.words[Int(lexicon.tags.first) + rest.trailingZeroBitCount].plain
      rest &= rest &- 1
      cursor.put(lexicon.text + Int(slice.offset), count: Int(slice.length))
      if rest != 0 { cursor.put(0x3B) }
    }
  }

  /// In quotes where RFC 4180 section 2 rule 6 demands them.
  private func putQuoted(_ start: UnsafePointer<UInt8>, count: Int, _ cursor: inout ByteCursor) {
    var needsQuotes = false
    for index in 0..<count {
      let byte = start[index]
      if byte == 0x22 || byte == 0x2C || byte == 0x0A { needsQuotes = true }
    }
    guard needsQuotes else { return cursor.put(start, count: count) }
    cursor.put(0x22)
    for index in 0..<count {
      if start[index] == 0x22 { cursor.put(0x22) }
      cursor.put(start[index])
    }
    cursor.put(0x22)
  }
}
