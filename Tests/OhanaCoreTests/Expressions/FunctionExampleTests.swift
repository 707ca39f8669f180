import OhanaCore
import Testing

@Suite("Function help") struct FunctionExampleTests {
  @Test("every example gives what the help says", arguments: FunctionRegistry.core.all.map(\.name)) func example(name: String) throws {
    let function = try #require(FunctionRegistry.core[name])
    #expect(try evaluate(function.example) == evaluate(function.result))
    #expect(try evaluate(function.result) != .null)
    #expect(function.usage.hasPrefix(name + "("))
  }

  @Test("the design's functions are there, but those of phone numbers") func complete() {
    let wanted = """
      lower upper trim length substr replace split_part concat concat_ws starts_with ends_with contains left right initcap regexp_replace \
      regexp_extract md5 sha256 fold nfc nfkc email email_domain name_key
      """
    for name in wanted.split(separator: " ") { #expect(FunctionRegistry.core[String(name)] != nil, "\(name)") }
  }
}
