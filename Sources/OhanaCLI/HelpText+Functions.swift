internal import Ohana

extension HelpText {
  /// `ohana help functions`: the language of expressions and every function.
  static var functionsPage: String {
    var lines = [
      "Expressions are SQL's scalar expressions. Where engines differ they answer as DuckDB does; what has no value (an overflow, a division",
      "by zero, a failed cast) is null, and so is a missing field.", "",
      "  ohana filter \"EXPR\" INPUT…        ohana set \"NAME = EXPR\"… INPUT…", "",
      "Language:",
    ]
    lines += table([
      ("'it''s'  1.50  TRUE  NULL", "literals; numbers keep their spelling"),
      ("name  address.city  tags[0]", "fields and paths; letters of any script"), ("\"First Name\"", "any other name, in double quotes"),
      ("=  <>  <  <=  >  >=", "text against a number is converted; null where that fails"), ("AND  OR  NOT", "with three truth values"),
      ("IS [NOT] NULL | TRUE | FALSE", "'' is not null"), ("[NOT] IN (…)  [NOT] BETWEEN", "as in SQL"),
      ("[NOT] LIKE  ILIKE [ESCAPE]", "% any text, _ one character; ILIKE in any case"),
      ("~  !~", "regular expression (RE2) found anywhere"),
      ("||  +  -  *  /  %", "|| joins texts; / gives a DOUBLE"), ("CASE [x] WHEN … THEN … ELSE … END", ""),
      ("CAST(x AS TYPE)", "TEXT, INTEGER (32 bits), BIGINT, HUGEINT, DOUBLE, BOOLEAN"), ("COALESCE(x, …)  NULLIF(x, y)", ""),
    ])
    lines += ["", "Functions, in any case:"]
    for function in FunctionRegistry.standard.all {
      lines += ["  " + function.usage] + wrapped(function.summary, width: 92).map { "      " + $0 }
      lines.append("      \(function.example) → \(function.result)")
    }
    return lines.joined(separator: "\n")
  }
}
