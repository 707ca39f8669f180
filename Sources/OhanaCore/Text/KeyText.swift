/// Appends the key text that `kind` makes of `text` to `out`. Returns false, with `out` as it was, where there is none: such a value
/// equals nothing.
///
/// The key kinds, the expression functions of the same names and `normalize` all use this, so that they agree. No locale plays a part.
/// - Parameters:
///   - text: a decoded value in UTF-8; not inside `out` or `scratch.words`. Bytes that are not UTF-8 count as U+FFFD unless the kind is
///     `exact`.
/// - Complexity: O(bytes); no allocation once `out` and `scratch` have grown.
@discardableResult
public func appendKeyText(_ kind: EqualityKind, _ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer, scratch: TextScratch) -> Bool {
  switch kind {
  case .exact:
    out.append(text)
    return text.count > 0
  case .fold: return appendFolded(text, to: out, scratch: scratch)
  case .email: return appendEmail(text, to: out, scratch: scratch)
  case .emailProvider:
    let start = out.count
    guard appendEmail(text, to: out, scratch: scratch) else { return false }
    dropProviderVariants(out, from: start)
    return true
  case .name: return appendNameKey(text, to: out, scratch: scratch)
  case .phone(let region):
    if PhoneNumbers.append(.e164, of: text, region: region, possibleOnly: true, to: out, scratch: scratch) { return true }
    out.append(text)
    return text.count > 0
  }
}

/// The same for a field of a batch: missing, null and blank values, `[]` and `{}` have no key; arrays and objects count as compact JSON.
@discardableResult
@inline(__always)
public func appendKeyText(
  _ kind: EqualityKind, of field: FieldSpan, in batch: RecordBatch, to out: ByteBuffer, scratch: TextScratch
) -> Bool {
  if field.isBlank { return false }
  if field.kind.rawValue >= ValueKind.array.rawValue {
    return appendNestedKeyText(kind, batch.bytes(of: field), to: out, scratch: scratch)
  }
  return appendKeyText(kind, batch.text(of: field, scratch: scratch.decoded), to: out, scratch: scratch)
}

@inline(never)
private func appendNestedKeyText(_ kind: EqualityKind, _ json: UnsafeBufferPointer<UInt8>, to out: ByteBuffer, scratch: TextScratch) -> Bool
{
  scratch.decoded.removeAll()
  JSONScanner.appendCanonical(json, to: scratch.decoded, scratch: scratch.words)
  if scratch.decoded.count <= 2 { return false }  // [] or {}
  return appendKeyText(kind, scratch.decoded.bytes, to: out, scratch: scratch)
}

// MARK: E-mail

private func appendEmail(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer, scratch: TextScratch) -> Bool {
  let start = out.count
  let isASCII = appendTrimmedASCII(text, to: out)
  if !isASCII {
    out.count = start
    scratch.load(text)
    scratch.lower()
    scratch.trimUnits()
    scratch.appendUnits(to: out)
  }
  for index in start..<out.count where out.base[index] == UInt8(ascii: "@") { return true }
  out.count = start
  return false
}

/// Appends `text` in lower case without white space at its ends. Returns false, with part of it appended, at a byte beyond ASCII.
@inline(__always)
private func appendTrimmedASCII(_ text: UnsafeBufferPointer<UInt8>, to out: ByteBuffer) -> Bool {
  guard let base = text.baseAddress else { return true }
  var start = 0
  var end = text.count
  while start < end, isASCIISpace(base[start]) { start &+= 1 }
  while end > start, isASCIISpace(base[end &- 1]) { end &-= 1 }
  out.reserve(end &- start)
  let target = out.base + out.count
  var seen: UInt8 = 0
  for index in 0..<(end &- start) {
    let byte = base[start &+ index]
    seen |= byte
    target[index] = lowerASCII(byte)
  }
  out.count &+= end &- start
  return seen < 0x80
}

private let gmail: StaticString = "gmail.com"
private let googlemail: StaticString = "googlemail.com"

/// Rewrites the address that starts at `start` of `out`: what a provider takes for one mailbox becomes one text. An address that would
/// lose its whole local part is left alone.
private func dropProviderVariants(_ out: ByteBuffer, from start: Int) {
  let base = out.base
  var at = out.count - 1
  while base[at] != UInt8(ascii: "@") { at -= 1 }
  let domain = UnsafeBufferPointer(start: base + at + 1, count: out.count - at - 1)
  guard equals(domain, gmail) || equals(domain, googlemail) else { return }
  var local = start
  var isEmpty = true
  for index in start..<at {
    if base[index] == UInt8(ascii: "+") { break }
    if base[index] != UInt8(ascii: ".") { isEmpty = false }
  }
  if isEmpty { return }
  for index in start..<at {
    let byte = base[index]
    if byte == UInt8(ascii: "+") { break }
    if byte == UInt8(ascii: ".") { continue }
    base[local] = byte
    local += 1
  }
  out.count = local
  out.append("@gmail.com")
}

private func equals(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
  guard bytes.count == text.utf8CodeUnitCount else { return false }
  for index in 0..<bytes.count where bytes[index] != text.utf8Start[index] { return false }
  return true
}
