/// The report as JSON, complete; a pure function of the state.
struct JSONReport: Encodable {
  struct Failure: Encodable {
    var code: String
    var exit: Int32
    var message: String
  }
  var version: String
  var versions: [String: String]
  var exit: Int32
  var failure: Failure?
  var plan: [String]
  var notes: [String]
  var books: RunBooks

  init(_ state: RunState) {
    version = Version.current
    versions = RunIdentity.versions
    exit = state.exitStatus
    plan = state.plan
    failure = state.failure.map { .init(code: $0.code, exit: $0.category.rawValue, message: $0.message) }
    notes = state.notes
    books = state.books
  }

  /// Keys in order.
  var text: [UInt8] { get throws { try JSONCoding.page(self) } }
}
