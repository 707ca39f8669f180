public import OhanaCore
internal import OhanaRun

/// Contacts as a run gives them out. Each iterator is a run of its own; see ``ContactsDataSource/contacts``.
public struct ContactSequence: AsyncSequence, Sendable {
  /// What it gives, one by one.
  public typealias Element = Contact
  let source: ContactsDataSource
  let isIncluded: (@Sendable (Contact) -> Bool)?

  /// An iterator with a run of its own.
  public func makeAsyncIterator() -> Iterator {
    Iterator(puller: ContactPuller(ContactChannel(source.rowNumbers), runOf: source), isIncluded: isIncluded)
  }

  /// One run; a value of its own for each iteration, used by one task at a time.
  public struct Iterator: AsyncIteratorProtocol {
    let puller: ContactPuller
    let isIncluded: (@Sendable (Contact) -> Bool)?

    /// The next contact; nil at the end.
    ///
    /// - Throws: what ended the run, an ``OhanaError``.
    public mutating func next() async throws -> Contact? {
      while let contact = try await puller.next() {
        if isIncluded?(contact) ?? true { return contact }
      }
      return nil
    }
  }
}

/// Begins a run when it is first asked for a contact, and ends it when it is let go of.
final class ContactPuller {
  private let channel: ContactChannel
  private let source: ContactsDataSource
  private var run: Task<Void, Never>?
  private var chunk = ContactChunk()

  init(_ channel: ContactChannel, runOf source: ContactsDataSource) {
    self.channel = channel
    self.source = source
  }

  deinit {
    channel.abandon()
    run?.cancel()
  }

  func next() async throws -> Contact? {
    if run == nil {
      run = Task { [source, channel] in
        do {
          try await source.run(into: channel)
          channel.end(nil)
        } catch { channel.end(error) }
      }
    }
    if chunk.isOver {
      let (channel, run) = (channel, run)
      let next = try await withTaskCancellationHandler {
        try await channel.next()
      } onCancel: {
        channel.abandon()
        run?.cancel()
      }
      if Task.isCancelled { throw CancellationError() }
      guard let next else { return nil }
      chunk = next
    }
    return try chunk.nextContact()
  }
}
