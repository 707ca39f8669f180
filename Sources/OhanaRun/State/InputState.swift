public import OhanaCore

/// An input's way through a run.
public struct InputState: Sendable, Equatable, Codable {
  /// As given; the identifier of a provider that gives a stream.
  public var name: String
  /// It only goes on, from `initialized` by `processing` to one of the others. `cancelled` is one that was not read to its end since the run
  /// was interrupted or failed elsewhere, or that an interrupted run had not begun with.
  public var status = ProviderStatus.initialized
  /// What went wrong with it, where its status is `failed`.
  public var error: String?

  /// Nothing of it has been read.
  public init(name: String) { self.name = name }
}

extension RunState {
  /// The run is over, well: every input was read, as far as anybody wanted, or its fault is in the books.
  mutating func loadInputs() {
    for index in books.inputs.indices where index < inputs.count {
      inputs[index].status = books.inputs[index].fault == nil ? .loaded : .failed
      inputs[index].error = books.inputs[index].fault
    }
  }

  /// The run is over, badly.
  ///
  /// - Parameter source: what the error is about, which need not be an input.
  mutating func endInputs(blaming source: FilePath?, _ failure: Failure) {
    for (index, book) in books.inputs.enumerated() where index < inputs.count && book.fault != nil {
      (inputs[index].status, inputs[index].error) = (.failed, book.fault)
    }
    let name = source?.description
    if interruption == nil,
      let index = inputs.firstIndex(where: { $0.name == name && $0.status == .processing })
        ?? inputs.firstIndex(where: { $0.name == name && $0.status != .failed })
    {
      (inputs[index].status, inputs[index].error) = (.failed, failure.message)
    }
    for index in inputs.indices {
      switch inputs[index].status {
      case .processing: inputs[index].status = .cancelled
      case .initialized: if interruption != nil { inputs[index].status = .cancelled }
      case .loaded, .failed, .cancelled: break
      }
    }
  }
}
