import Glibc

struct Options {
  var rows = 200_000
  var runs = 3
  var seed = 1
  /// Parts of names of the cases to run; all where empty.
  var only: [String] = []
  var ohana: String
  var work = "Benchmarks/work"
  /// File whose section of stages is replaced; none where empty.
  var results = ""

  static let usage = """
    usage: ohana-bench [--rows N] [--runs N] [--seed N] [--only NAME,…] [--ohana PATH] [--work FOLDER] [--results FILE]
    """

  init(_ arguments: [String]) throws {
    // The tool is built next to the benchmark.
    let own = try executablePath()
    ohana = (own.split(separator: "/", omittingEmptySubsequences: false).dropLast() + ["ohana"]).joined(separator: "/")
    var rest = arguments[...]
    while let option = rest.popFirst() {
      if option == "--help" { throw BenchmarkError(description: Self.usage) }
      guard let value = rest.popFirst() else { throw BenchmarkError(description: "\(option) needs a value\n\(Self.usage)") }
      func number() throws -> Int {
        guard let number = Int(value), number > 0 else { throw BenchmarkError(description: "\(option) needs a positive number") }
        return number
      }
      switch option {
      case "--rows": rows = try number()
      case "--runs": runs = try number()
      case "--seed": seed = try number()
      case "--only": only = value.split(separator: ",").map(String.init)
      case "--ohana": ohana = value
      case "--work": work = value
      case "--results": results = value
      default: throw BenchmarkError(description: "unknown option \(option)\n\(Self.usage)")
      }
    }
  }
}

private func executablePath() throws -> String {
  var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
  let count = buffer.withUnsafeMutableBytes { readlink("/proc/self/exe", $0.baseAddress!, $0.count) }
  guard count > 0 else { throw BenchmarkError(description: "cannot find the path of this program; give --ohana") }
  return String(decoding: buffer[..<count], as: UTF8.self)
}
