/// The report as JSON, complete; a pure function of the state.
///
/// | key | what |
/// |---|---|
/// | `exit` | what the process ended with |
/// | `failure` | `code` and `message` of what went wrong, if anything did |
/// | `interruption` | `signal` that ended the run, and whether a next one can go on with it (`resumable`) |
/// | `books` | where every record went; of a run that failed or was interrupted, how far records had come |
/// | `inputs` | `name` and `status` (`initialized`, `processing`, `loaded`, `error`, `cancelled`) of each, as ``InputState`` says, and its `error`: in the order of the books, then those left out |
/// | `plan`, `notes`, `version`, `versions` | the plan, what was worth knowing, this tool and the libraries that results depend on |
struct JSONReport: Encodable {
  struct Failure: Encodable {
    var code: String
    var message: String
  }
  struct Interruption: Encodable {
    var signal: Int32
    var resumable: Bool
  }
  var version: String
  var versions: [String: String]
  var exit: Int32
  var failure: Failure?
  var interruption: Interruption?
  var plan: [String]
  var notes: [String]
  var inputs: [InputState]
  var books: RunBooks

  init(_ state: RunState) {
    version = Version.current
    versions = RunIdentity.versions
    exit = state.exitStatus
    plan = state.plan
    interruption = state.isInterrupted ? state.interruption.map { .init(signal: $0.signal, resumable: state.hasLeft) } : nil
    // That a run was cancelled is what the signal did.
    failure = state.ownFailure.map { .init(code: $0.code, message: $0.message) }
    notes = state.notes
    inputs = state.inputs
    books = state.books
  }

  /// Keys in order.
  var text: [UInt8] { get throws { try JSONCoding.page(self) } }
}
