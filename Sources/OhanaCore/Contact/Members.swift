/// Names and values in order: the members of an object, a contact's custom properties, a whole record outside the hot path.
///
/// Each name stands once; to set it again keeps its place. Two are equal if they hold the same names and values in any order. Looking a name
/// up costs O(names), which are few.
public struct Members: Sendable, Hashable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
  /// A name and its value.
  public typealias Element = (name: String, value: Value)
  private struct Member: Sendable {
    let name: String
    var value: Value
  }
  private var members: [Member] = []

  /// No members.
  public init() {}

  /// Of a repeated name the first place and the last value count, as everywhere.
  public init(_ elements: some Sequence<Element>) {
    for (name, value) in elements { self[name] = value }
  }
  /// As ``init(_:)`` of the same elements.
  public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements.map { (name: $0, value: $1) }) }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of members.
  public var endIndex: Int { members.count }
  /// The member at a place. - Precondition: it is before ``endIndex``.
  public subscript(position: Int) -> Element { (members[position].name, members[position].value) }

  /// The value of `name`; nil where there is none. To set nil takes the name away, to set ``Value/null`` does not.
  public subscript(name: String) -> Value? {
    get { index(of: name).map { members[$0].value } }
    set {
      switch (index(of: name), newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(name: name, value: value))
      case (nil, nil): break
      }
    }
  }

  /// In order.
  public var names: [String] { members.map(\.name) }

  private func index(of name: String) -> Int? { members.firstIndex { isSameText($0.name, name) } }

  public static func == (a: Members, b: Members) -> Bool {
    a.members.count == b.members.count && a.members.allSatisfy { b[$0.name] == $0.value }
  }
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for member in members {
      var one = Hasher()
      for byte in member.name.utf8 { one.combine(byte) }
      one.combine(member.value)
      sum &+= one.finalize()
    }
    hasher.combine(sum)
  }
}

// MARK: JSON

extension Members {
  /// Reads one JSON object.
  ///
  /// - Throws: ``OhanaError`` (`badInput`, with the offset at fault as `byte` in the problem) for text that is no JSON object.
  public init(json text: UnsafeBufferPointer<UInt8>) throws(OhanaError) {
    if let fault = JSONValidator().firstFault(in: text) {
      throw OhanaError(.badInput, "invalid-json", "byte \(fault.offset + 1): \(fault.detail)")
    }
    self = try Self(valid: text)
  }

  /// Reads one JSON object from a text.
  public init(json text: String) throws(OhanaError) {
    var text = text
    let result: Result<Members, OhanaError> = text.withUTF8 { bytes in
      do throws(OhanaError) { return .success(try Members(json: bytes)) } catch { return .failure(error) }
    }
    self = try result.get()
  }

  /// The same for text that was validated.
  package init(valid text: UnsafeBufferPointer<UInt8>) throws(OhanaError) {
    let start = text.baseAddress!
    let (span, _) = JSONScanner.value(in: start, at: 0)
    guard span.kind == .object else { throw OhanaError(.badInput, "not-an-object", "a record is a JSON object") }
    self.init(span, in: start, ByteBuffer())
  }

  /// The same for a line of text of our own writing, followed by its line feed.
  package init(line: ArraySlice<UInt8>) throws(OhanaError) {
    let result: Result<Members, OhanaError> = line.withUnsafeBufferPointer { text in
      do throws(OhanaError) { return .success(try Members(valid: text)) } catch { return .failure(error) }
    }
    self = try result.get()
  }

  init(_ span: FieldSpan, in text: UnsafePointer<UInt8>, _ scratch: ByteBuffer) {
    var walk = JSONMembers(of: span, in: text)
    while let member = walk.next() {
      let name = String(decoding: member.key(in: text, scratch: scratch), as: UTF8.self)
      self[name] = Value(member.value, in: text, scratch)
    }
  }

  /// Appends a compact JSON object.
  public func appendJSON(to out: ByteBuffer) {
    out.append("{")
    for (index, member) in members.enumerated() {
      if index > 0 { out.append(",") }
      Value.appendQuoted(member.name, to: out)
      out.append(":")
      member.value.appendJSON(to: out)
    }
    out.append("}")
  }

  /// A compact JSON object.
  public var json: String {
    let out = ByteBuffer()
    appendJSON(to: out)
    return String(decoding: out.bytes, as: UTF8.self)
  }
}
