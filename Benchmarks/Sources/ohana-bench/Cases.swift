/// One line of the table: a command on generated data.
struct Case {
  enum Input: String { case ndjson, csv }
  var name: String
  var input: Input
  var command: String
}

/// All that is measured. `@IN`, `@OUT` (without ending), `@LIST` and `@OHANA` are put in by the caller.
enum Cases {
  static func floor(_ input: Case.Input) -> Case {
    Case(name: "floor (igzip -d | igzip -1)", input: input, command: "cat @IN | igzip -dc | igzip -1 -c > @OUT.gz")
  }

  /// Reading and writing alone, and what has no output of its own.
  static let plain: [Case] = [
    verb("count", .ndjson, "@OHANA count @IN"),
    verb("count", .csv, "@OHANA count @IN"),
    verb("check", .ndjson, "@OHANA check @IN"),
    verb("check", .csv, "@OHANA check @IN"),
    verb("stats", .ndjson, "@OHANA stats @IN"),
    verb("head -n 10", .ndjson, "@OHANA head -n 10 @IN"),
    verb("copy", .ndjson, "@OHANA convert @IN -o @OUT.ndjson.gz --overwrite"),
    verb("copy", .csv, "@OHANA convert @IN -o @OUT.csv.gz --overwrite"),
    verb("copy, uncompressed", .ndjson, "@OHANA convert @IN -o @OUT.ndjson --overwrite"),
    verb("copy, level 6", .ndjson, "@OHANA convert @IN -o @OUT.ndjson.gz --level 6 --overwrite"),
  ]

  static let stages: [Case] =
    [
      "require first,last,image",
      "filter \"country = 'DE' AND email LIKE '%example.org'\"",
      "filter \"upper(last) ~ '^(MC|O.)'\"",
      "set \"full_name = first || ' ' || last\"",
      "set \"domain = email_domain(email)\" \"n = length(first)\"",
      "rename first=given,last=family",
      "keep first,last,email",
      "drop tags,image",
      "normalize email:email,first:name",
      "normalize phone:phone/US",
      "set \"e164 = phone_e164(phone, country)\"",
      "phone --region US",
      "tag customer where \"company IS NOT NULL\"",
      "count-fields",
      "split --on phone",
      "match jsm --in first,last",
      "match jsm --in first,last --score score --top 100",
      "select --require-type phone --max 100000 --on-exceed trim",
      "any { require phone } { require email }",
      "any { split --on phone } { split --on email }",
      "dedupe --by email:email",
      "dedupe --by email:email --keep newest:updated_at",
      "dedupe --by first:fold,last:fold,postal",
      "distinct --by record",
      "count-by country,city",
      "suppress --list @LIST --by email:email",
      "sort last,first",
      "sort last:binary,first:binary",
      "sort updated_at:binary:desc",
      "sort id:number:desc",
      "sort street:natural",
      "sort last,first then limit 1000",
      "reverse",
      "skip 1000",
      "limit 1000",
      "sample 1%",
      "sample 1000",
      "tee @OUT-tee.ndjson.gz",
    ].map { verb($0, .ndjson, "@OHANA run @IN -o @OUT.ndjson.gz --overwrite then \($0)") }

  /// The five jobs of the design page.
  static let jobs: [Case] = [
    verb("job: dedupe", .ndjson, "@OHANA dedupe --by email:email @IN -o @OUT.ndjson.gz --overwrite"),
    verb(
      "job: names", .ndjson,
      "@OHANA run @IN -o @OUT.ndjson.gz --overwrite then require first,last,image then sort last,first"
        + " then set \"full_name = first || ' ' || last\" then keep full_name,image"),
    verb("job: NDJSON to CSV", .ndjson, "@OHANA convert @IN -o @OUT.csv.gz --overwrite"),
    verb("job: CSV to NDJSON", .csv, "@OHANA convert @IN -o @OUT.ndjson.gz --overwrite"),
    verb("job: dedupe, sort", .csv, "@OHANA run @IN -o @OUT.csv.gz --overwrite then dedupe --by email:email then sort last,first"),
  ]

  static let all = [floor(.ndjson), floor(.csv)] + plain + stages + jobs

  private static func verb(_ name: String, _ input: Case.Input, _ command: String) -> Case {
    Case(name: name, input: input, command: command)
  }
}
