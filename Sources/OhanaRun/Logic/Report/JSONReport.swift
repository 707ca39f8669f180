/// The report as JSON, complete; a pure function of the state.
struct JSONReport: Encodable {
  struct Failure: Encodable {
    var code: String
    var exit: Int32
    var message: String
  }
  var version: String
  var failure: Failure?
  var notes: [String]
  var books: RunBooks

  init(_ state: RunState) {
    version = Version.current
    failure = state.failure.map { .init(code: $0.code, exit: $0.category.rawValue, message: $0.message) }
    notes = state.notes
    books = state.books
  }

  /// Keys in order.
  var text: [UInt8] { get throws { try JSONCoding.page(self) } }
}
