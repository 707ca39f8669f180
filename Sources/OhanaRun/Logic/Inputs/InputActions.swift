internal import OhanaCore
internal import OhanaFormats

/// Inputs are found, and read one after the other.
enum InputActions {
  /// It is known which inputs there are; nothing of them has been read.
  struct Found: RunUpdater {
    let names: [FilePath]
    /// What cannot be read, and the run goes on without. Behind the others.
    var leftOut: [OhanaError] = []

    func update(_ state: inout RunState) {
      state.inputs = names.map { InputState(name: $0.description) }
      for error in leftOut {
        var input = InputState(name: error.location?.source.description ?? "")
        (input.status, input.error) = (.failed, error.description)
        state.inputs.append(input)
      }
    }
  }

  /// Inputs have gone on; posted ten times a second at most, however many there are.
  struct Advance: RunUpdater {
    struct Step: Sendable, Codable {
      var input: Int
      var status: ProviderStatus
    }
    /// In the order in which it came to be.
    let steps: [Step]

    func update(_ state: inout RunState) {
      for step in steps where step.input < state.inputs.count { state.inputs[step.input].status = step.status }
    }
  }

  /// From what a request names to what is read, all of it looked at before the first byte is.
  struct Find: RunEffect {
    let request: RunRequest
    let desk: RunDesk

    func perform(in context: RunContext) async throws {
      var asked = Set<FilePath>()
      while true {
        do { return try await look(asked, context) } catch let error as OhanaError where request.asks(about: error, asked) {
          if let source = error.location?.source { asked.insert(source) }
          let isToTry = await AccessRetry.answer { request.authorise?(error, $0) }
          if context.state.interruption != nil { throw OhanaError.cancelled }
          if !isToTry, !request.options.leavesOut(error) { throw request.refused(error) }
        } catch let error as OhanaError { throw request.unasked(error) }
      }
    }

    /// - Parameter asked: what somebody was asked about already.
    private func look(_ asked: Set<FilePath>, _ context: RunContext) async throws {
      let inputs = context.dependencies.inputs
      func leavesOut(_ error: OhanaError) -> Bool { !request.asks(about: error, asked) && request.options.leavesOut(error) }
      do {
        let listing = try inputs.list(request, leavingOut: leavesOut)
        try await context.dispatch(Found(names: listing.names(of: request)))
        let found = try inputs.open(listing, of: request, leavingOut: leavesOut)
        try await context.dispatch(Found(names: found.items.map(\.path), leftOut: found.leftOut.map(\.error)))
        found.tell(request)
        desk.found = found
      } catch {
        // An input that is not there may be the only one that the report can name.
        if context.state.inputs.isEmpty, let source = (error as? OhanaError)?.location?.source {
          try await context.dispatch(Found(names: [source]))
        }
        throw error
      }
    }
  }
}

extension RunRequest {
  /// Somebody is to be asked whether what fails so is to be tried again.
  fileprivate func asks(about error: OhanaError, _ asked: Set<FilePath>) -> Bool {
    guard error.code == "auth", options.onAuth == .ask, authorise != nil, let source = error.location?.source else { return false }
    return !asked.contains(source)
  }

  fileprivate func refused(_ error: OhanaError) -> OhanaError {
    var error = error
    error.fix = "access was refused"
    return error
  }

  /// Says why nobody was asked, where somebody was to be.
  fileprivate func unasked(_ error: OhanaError) -> OhanaError {
    guard error.code == "auth", options.onAuth == .ask, authorise == nil else { return error }
    var error = error
    error.fix = "there is nobody to ask (--on-auth ask needs a terminal): " + error.fix
    return error
  }
}
