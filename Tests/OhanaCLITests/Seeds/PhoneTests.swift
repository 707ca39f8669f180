import Foundation
import OhanaTestSupport
import Testing

@Suite("phone: rows O-68") struct PhoneTests {
  @Test("PHONE: the wanted formats next to the value, which stays, of a number that is not valid too") func formats() throws {
    let input = """
      {"phone":"555-5555555","email":"a@b"}
      {"fields":[{"type":"phone","value":"555-5555555"}, {"type":"email","value":"555-5555555"}]}
      {"phone":"not a number"}
      {"phone":null}
      {"id":4}

      """
    try Conformance.expect(
      input, ["phone", "--region", "US", "--formats", "e164,international,national,rfc3966"],
      gives: """
        {"phone":"555-5555555","email":"a@b","phone.e164":"+15555555555","phone.international":"+1 555-555-5555","phone.national":"(555) 555-5555",\
        "phone.rfc3966":"tel:+1-555-555-5555"}
        {"fields":[{"type":"phone","value":"555-5555555","phone.e164":"+15555555555","phone.international":"+1 555-555-5555",\
        "phone.national":"(555) 555-5555","phone.rfc3966":"tel:+1-555-555-5555"}, {"type":"email","value":"555-5555555"}]}
        {"phone":"not a number"}
        {"phone":null}
        {"id":4}

        """)
    try Conformance.expect(
      input, ["phone", "--region", "US", "--formats", "e164,national", "then", "limit", "1"],
      gives: "{\"phone\":\"555-5555555\",\"email\":\"a@b\",\"phone.e164\":\"+15555555555\",\"phone.national\":\"(555) 555-5555\"}\n")
    let twice = ["phone", "--region", "US", "then", "phone", "--region", "US"]
    try Conformance.expect(
      "{\"fields\":[{\"phone.e164\":\"x\" , \"type\":\"phone\",\"value\":\"555-5555555\"},7]}\n", twice,
      gives: "{\"fields\":[{ \"type\":\"phone\",\"value\":\"555-5555555\",\"phone.e164\":\"+15555555555\"},7]}\n")
  }

  @Test("PHONE: beside a number E.164 has no extension, as the library writes it; in its place the extension stays") func extensions()
    throws
  {
    let input = """
      {"phone":"212-555-0100 ext. 5","fields":[{"type":"phone","value":"212-555-0100 x5"}]}

      """
    try Conformance.expect(
      input, ["phone", "--region", "US", "--formats", "e164,national"],
      gives: """
        {"phone":"212-555-0100 ext. 5","fields":[\
        {"type":"phone","value":"212-555-0100 x5","phone.e164":"+12125550100","phone.national":"(212) 555-0100 ext. 5"}],\
        "phone.e164":"+12125550100","phone.national":"(212) 555-0100 ext. 5"}

        """)
    try Conformance.expect(
      input, ["phone", "--region", "US", "--replace", "then", "keep", "phone"], gives: "{\"phone\":\"+12125550100;ext=5\"}\n")
  }

  @Test("O-66 O-68: a split takes each number's formats along with it, whether they were written in this run or before")
  func splitFormats() throws {
    let input = """
      {"id":1,"phone":"212-555-0100","phone_2":"212-555-0199","email":"e"}
      {"id":2,"phone_2":"+12125550111"}
      {"id":3,"phone":"?","phone_2":"212-555-0122","fields":[{"type":"phone","value":"212-555-0133"}]}

      """
    let wanted = [
      #"{"id":1,"phone":"212-555-0100","phone.e164":"+12125550100"}"#, #"{"id":1,"phone":"212-555-0199","phone.e164":"+12125550199"}"#,
      #"{"id":2,"phone":"+12125550111","phone.e164":"+12125550111"}"#, #"{"id":3,"phone":"?","fields":[]}"#,
      #"{"id":3,"phone":"212-555-0122","fields":[],"phone.e164":"+12125550122"}"#,
      #"{"id":3,"fields":[{"type":"phone","value":"212-555-0133","phone.e164":"+12125550133"}]}"#,
    ]
    func objects(_ lines: [String]) throws -> [NSDictionary] {
      try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary) }
    }
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    let together = try folder.run(["run", "in.ndjson", "-q", "then", "phone", "--region", "US", "then", "split", "--on", "phone"])
    #expect(try objects(together.lines) == objects(wanted), "\(together.err) \(together.text)")
    #expect(try folder.run(["phone", "--region", "US", "in.ndjson", "-o", "between.ndjson"]).status == 0)
    let later = try folder.run(["split", "--on", "phone", "between.ndjson", "-q"])
    #expect(try objects(later.lines) == objects(wanted), "\(later.err) \(later.text)")
    let other = try folder.run(["run", "in.ndjson", "-q", "then", "phone", "--region", "US", "then", "split", "--on", "email"])
    #expect(other.text == "{\"id\":1,\"email\":\"e\"}\n", "\(other.err) \(other.text)")
    try folder.write("in.csv", "id,phone,phone_2\n1,212-555-0100,212-555-0199\n2,,+12125550111\n")
    let columns = try folder.run(["run", "in.csv", "-q", "then", "phone", "--region", "US", "then", "split", "--on", "phone"])
    #expect(
      columns.text
        == "id,phone,phone.e164\n1,212-555-0100,+12125550100\n1,212-555-0199,+12125550199\n2,+12125550111,+12125550111\n", "\(columns.text)"
    )
  }

  @Test("PHONE: without a region and without a plus nothing is added, and the summary counts it") func noRegion() throws {
    let folder = try Workdir()
    try folder.write("in.csv", "id,phone,phone_2\n1,555-5555555,+4930 23125001\n2,junk,\n")
    let result = try folder.run(["phone", "in.csv"])
    #expect(result.status == 0, "\(result.err)")
    #expect(result.text == "id,phone,phone_2,phone.e164,phone_2.e164\n1,555-5555555,+4930 23125001,,+493023125001\n2,junk,,,\n")
    #expect(result.err.contains("2 invalid numbers"), "\(result.err)")
  }

  @Test("PHONE: invalid numbers are counted up to the record that an early stop ends with, for any batches and threads") func earlyStop()
    throws
  {
    let folder = try Workdir()
    let input = (0..<20_000).map { "{\"id\":\($0),\"phone\":\"\($0 % 2 == 0 ? "junk" : "+12125550100")\",\"phone_2\":\"?\"}\n" }.joined()
    try folder.write("in.ndjson", input)
    for setting in Conformance.settings {
      for chain in [["filter", "id % 3 = 0"], ["split", "--on", "phone", "then", "filter", "id % 3 = 0"]] {
        let result = try folder.run(["run", "in.ndjson"] + setting + ["then", "phone", "then"] + chain + ["then", "limit", "1000"])
        let last = chain.count > 2 ? 499 : 999
        let invalid = (0...last * 3).reduce(0) { $0 + ($1 % 2 == 0 ? 2 : 1) }
        let text = "\(invalid / 1000),\(String(format: "%03d", invalid % 1000)) invalid numbers"
        #expect(result.status == 0 && result.err.contains(text), "\(setting) \(chain): \(result.err)")
      }
    }
  }

  @Test("PHONE: --replace puts the format in the value's place") func replace() throws {
    try Conformance.expect(
      "{\"phone\":\"(212) 555-0100\",\"fields\":[ {\"value\":\"212.555.0101\",\"type\":\"phone\"} ]}\n{\"phone_2\":2125550102}\n{\"phone\":\"x\"}\n",
      ["phone", "--region", "US", "--replace"],
      gives:
        "{\"phone\":\"+12125550100\",\"fields\":[ {\"value\":\"+12125550101\",\"type\":\"phone\"} ]}\n{\"phone_2\":\"+12125550102\"}\n{\"phone\":\"x\"}\n"
    )
  }

  @Test("PHONE: --invalid tags the record, or takes the number away") func invalid() throws {
    let input = """
      {"id":"A","phone":"12","tags":["t"]}
      {"id":"B","phone":"212-555-0100"}
      {"id":"C","fields":[{"type":"phone","value":"1"},{"type":"phone","value":"2125550100"},{"type":"phone","value":"?"},{"type":"url","value":"u"}]}
      {"id":"D","fields":[{"type":"phone","value":"1"}]}

      """
    try Conformance.expect(
      input, ["phone", "--region", "US", "--replace", "--invalid", "tag", "then", "require", "--has-tag", "invalid-phone"],
      gives: ["A", "C", "D"])
    try Conformance.expect(
      input, ["phone", "--region", "US", "--replace", "--invalid", "drop"],
      gives: """
        {"id":"A","tags":["t"]}
        {"id":"B","phone":"+12125550100"}
        {"id":"C","fields":[{"type":"phone","value":"+12125550100"},{"type":"url","value":"u"}]}
        {"id":"D","fields":[]}

        """)
    try Conformance.expect(
      "id,phone\n1,12\n2,2125550100\n", ["phone", "--region", "US", "--invalid", "drop"],
      gives: "id,phone,phone.e164\n1,,\n2,2125550100,+12125550100\n",
      file: "in.csv")
  }

  @Test("columns of NDJSON made CSV are those that some record has") func columns() throws {
    try Conformance.expect(
      "{\"id\":1}\n{\"id\":2,\"phone_2\":\"+12125550100\"}\n", ["phone"],
      gives: "id,phone_2,phone_2.e164\n1,,\n2,+12125550100,+12125550100\n",
      options: ["--to", "csv"])
  }

  @Test("KEY kind, functions and normalize agree") func keys() throws {
    let input = """
      {"id":"A","phone":"(212) 555-0100","country":"US"}
      {"id":"B","phone":"+1 212 555 0100","country":"GB"}
      {"id":"C","phone":"020 7946 0000","country":"GB"}
      {"id":"D","phone":"+44 (0)20 7946 0000","country":null}
      {"id":"E","phone":"junk"}
      {"id":"F","phone":"junk"}

      """
    try Conformance.expect(input, ["dedupe", "--by", "phone:phone/US"], gives: ["A", "C", "D", "E"])
    try Conformance.expect(input, ["dedupe", "--by", "phone:phone/GB"], gives: ["A", "B", "C", "E"])
    try Conformance.expect(
      input, ["set", "id = concat_ws(' ', id, phone_e164(phone, country), phone_country(phone, country))"],
      gives: ["A +12125550100 US", "B +12125550100 US", "C +442079460000 GB", "D +442079460000 GB", "E", "F"])
    try Conformance.expect(input, ["filter", "phone_e164(phone, 'US') LIKE '+1212%'"], gives: ["A", "B"])
    try Conformance.expect(
      input, ["normalize", "phone:phone/GB", "then", "set", "id = phone"],
      gives: ["+442125550100", "+12125550100", "+442079460000", "+442079460000", "junk", "junk"])
    let folder = try Workdir()
    try folder.write("in.ndjson", input)
    for words in [
      ["phone", "--region", "XX"], ["phone", "--formats", "e16"], ["phone", "--formats", "e164,national", "--replace"],
      ["phone", "--invalid", "x"], ["filter", "phone_e164(phone, 'XX') IS NULL"], ["dedupe", "--by", "phone:phone/1"],
    ] {
      #expect(try folder.run(["run", "in.ndjson", "then"] + words).status == 2, "\(words)")
    }
  }
}
