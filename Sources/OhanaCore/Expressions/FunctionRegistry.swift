/// A function that expressions can call.
public struct ExpressionFunction: Sendable {
  /// Works on one block of records: reads the argument columns of the frame and fills its result column.
  public typealias Body = @Sendable (FunctionFrame) throws(OhanaError) -> Void

  /// Lower case; expressions may use any.
  public var name: String
  /// How it is called: `substr(TEXT, START [, LENGTH])`.
  public var usage: String
  /// What it does, one sentence.
  public var summary: String
  /// A call, and what it gives as a literal.
  public var example: String
  /// What it returns, for `ohana help functions`.
  public var result: String
  /// Numbers of arguments it takes.
  public var arity: ClosedRange<Int>
  /// Makes the body for one place where the function is called; constant arguments can be prepared, and refused, here.
  public var make: @Sendable (FunctionSite) throws(OhanaError) -> Body

  /// A function of values alone: the same arguments, the same result.
  public init(
    _ name: String, _ usage: String, arity: ClosedRange<Int>, _ summary: String, example: String, result: String,
    make: @escaping @Sendable (FunctionSite) throws(OhanaError) -> Body
  ) {
    self.name = name
    self.usage = usage
    self.arity = arity
    self.summary = summary
    self.example = example
    self.result = result
    self.make = make
  }
}

/// A place where a function is called.
public struct FunctionSite {
  /// Arguments that are the same for every record; nil for the others. Their bytes stay valid as long as the compiled expression.
  public let constants: [ExpressionValue?]
  let functionName: String

  /// The text of a constant argument, nil where it is missing, null or not constant.
  public func constantText(_ index: Int) -> UnsafeBufferPointer<UInt8>? {
    guard index < constants.count, let value = constants[index], !value.isNull else { return nil }
    return value.bytes
  }

  /// A usage error that names the function.
  public func problem(_ what: String, fix: String = "") -> OhanaError {
    OhanaError(.usage, "bad-argument", "\(functionName): \(what)", fix: fix)
  }
}

/// One call of a function's body: columns of a block of records.
public struct FunctionFrame {
  /// Records in the block.
  public let count: Int
  /// Arguments of this call.
  public let argumentCount: Int
  /// Where results that are no part of an argument are put.
  public let scratch: ExpressionScratch
  /// To be filled with `count` values.
  public let out: UnsafeMutablePointer<ExpressionValue>
  @usableFromInline let columns: UnsafePointer<UnsafeMutablePointer<ExpressionValue>>

  /// Values of an argument, one per record.
  @inlinable public func argument(_ index: Int) -> UnsafeMutablePointer<ExpressionValue> { columns[index] }

  /// Fills the result from the text of the first argument; null gives null.
  @inlinable @inline(__always)
  public func mapText(_ body: (UnsafeBufferPointer<UInt8>) throws(OhanaError) -> ExpressionValue) throws(OhanaError) {
    let values = columns[0]
    for index in 0..<count {
      out[index] = values[index].isNull ? .null : try body(try scratch.textBytes(values[index]))
    }
  }

  /// The same for the texts of the first two arguments.
  @inlinable @inline(__always)
  public func mapTexts(
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) throws(OhanaError) -> ExpressionValue
  ) throws(OhanaError) {
    let first = columns[0]
    let second = columns[1]
    for index in 0..<count {
      out[index] =
        first[index].isNull || second[index].isNull
        ? .null : try body(try scratch.textBytes(first[index]), try scratch.textBytes(second[index]))
    }
  }

  /// A whole number out of an argument; nil if it is null or none. Beyond ±2^40 it counts as that.
  public func integer(_ argument: Int, _ record: Int) -> Int? {
    let value = columns[argument][record]
    guard value.kind == .number || value.kind == .string else { return nil }
    if let small = smallInteger(value.bytes) { return Int(max(-1 << 40, min(1 << 40, small))) }
    guard let number = DecimalText(value.bytes) else { return nil }
    guard let rounded = number.rounded(halfToEven: number.hasExponent && value.kind == .number) else {
      return number.isNegative ? -1 << 40 : 1 << 40
    }
    return Int(max(-1 << 40, min(1 << 40, rounded)))
  }
}

/// The functions that expressions know. A value: stages add what needs their libraries to a copy of ``core``.
public struct FunctionRegistry: Sendable {
  private var functions: [String: ExpressionFunction] = [:]
  private var aliases: [String: String] = [:]

  /// Text, regular expressions, checksums and key kinds.
  public static let core: FunctionRegistry = {
    var registry = FunctionRegistry()
    for function in TextFunctions.all + RegexFunctions.all + KeyFunctions.all { registry.register(function) }
    registry.alias("substring", of: "substr")
    registry.alias("len", of: "length")
    registry.alias("char_length", of: "length")
    registry.alias("prefix", of: "starts_with")
    registry.alias("suffix", of: "ends_with")
    return registry
  }()

  /// Without functions.
  public init() {}

  /// Adds a function; it takes the place of one of the same name.
  public mutating func register(_ function: ExpressionFunction) { functions[function.name] = function }
  /// Makes `name` call `function` too.
  public mutating func alias(_ name: String, of function: String) { aliases[name] = function }

  /// - Parameter name: in lower case.
  public subscript(name: String) -> ExpressionFunction? { functions[aliases[name] ?? name] }

  /// All functions in order of their names, for help.
  public var all: [ExpressionFunction] { functions.values.sorted { $0.name < $1.name } }
  var names: [String] { functions.keys.sorted() + aliases.keys.sorted() }
}
