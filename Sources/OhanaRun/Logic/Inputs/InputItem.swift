package import OhanaCore
internal import OhanaFormats

/// An input before it is looked at: a file, or what a provider gives.
struct InputItem: Sendable {
  var path: FilePath
  var stream: (any ByteStream)?
  /// Index of the provider.
  var provider = 0
}

/// What cannot be read, and the run goes on without it.
struct LeftOutInput: Sendable {
  var error: OhanaError
  /// Index of the provider.
  var provider = 0
}

/// What a request names, before anything is asked whether it may be read.
struct InputListing: Sendable {
  var files: [FilePath] = []
  var leftOut: [LeftOutInput] = []

  /// Files, then providers by their identifiers.
  func names(of request: RunRequest) -> [FilePath] { files + request.providers.map { FilePath($0.identifier) } }
}

/// What is going to be read.
struct FoundInputs: Sendable {
  var items: [InputItem] = []
  var leftOut: [LeftOutInput] = []

  /// Tells whoever listens what was left out.
  func tell(_ request: RunRequest) {
    for input in leftOut {
      let name = FilePath(request.providers.isEmpty ? "" : request.providers[input.provider].identifier)
      request.onInput?(InputEvent(kind: .failed(input.error), provider: input.provider, name: name, isLast: false))
    }
  }
}

extension InputManager {
  /// Files that a request names, in order. Where they may not be read, ``open(_:of:leavingOut:)`` says so.
  ///
  /// - Parameter leavesOut: whether the run goes on without an input that fails so.
  /// - Throws: as ``InputResolver/list(_:filesFrom:leavingOut:)``.
  func list(_ request: RunRequest, leavingOut leavesOut: (OhanaError) -> Bool) throws -> InputListing {
    var listing = InputListing()
    if let files = request.files {
      listing.files = files
    } else if request.providers.isEmpty || !request.inputs.isEmpty || request.filesFrom != nil {
      listing.files = try InputResolver.list(request.inputs, filesFrom: request.filesFrom) { error in
        guard leavesOut(error) else { return false }
        listing.leftOut.append(.init(error: error))
        return true
      }
    }
    return listing
  }

  /// All that is read, in order; providers are opened when all have been asked for their access.
  ///
  /// - Parameter leavesOut: whether the run goes on without an input that fails so.
  /// - Throws: `auth` for what may not be read, and what providers throw; where everything would be left out, the first such error.
  func open(
    _ listing: InputListing, of request: RunRequest, leavingOut leavesOut: (OhanaError) -> Bool
  ) throws -> FoundInputs {
    var found = FoundInputs(leftOut: listing.leftOut)
    func leave(_ error: OhanaError, _ provider: Int) -> Bool {
      guard leavesOut(error) else { return false }
      found.leftOut.append(.init(error: error, provider: provider))
      return true
    }
    let files = try request.files ?? InputResolver.readable(listing.files) { leave($0, 0) }
    found.items = files.map { InputItem(path: $0) }
    var open: [Int] = []
    for (index, provider) in request.providers.enumerated() {
      if let error = Self.accessFault(provider) { if leave(error, index) { continue } else { throw error } }
      open.append(index)
    }
    for index in open {
      do {
        found.items += try Self.items(of: request.providers[index], index) { leave($0, index) }
      } catch let error as OhanaError where leave(error, index) {}
    }
    if found.items.isEmpty, let first = found.leftOut.first { throw first.error }
    return found
  }

  private static func accessFault(_ provider: any DataProvider) -> OhanaError? {
    let access = provider.access
    guard access != .granted else { return nil }
    return OhanaError(
      .io, "auth", at: .init(FilePath(provider.identifier)), "the provider may not read",
      fix: access == .denied ? "grant access to it" : "ask for access first")
  }

  private static func items(of provider: any DataProvider, _ index: Int, leaving: (OhanaError) -> Bool) throws -> [InputItem] {
    let name = FilePath(provider.identifier)
    switch try named(name, { try provider.open() }) {
    case .files(let paths): return try InputResolver.readable(paths, leavingOut: leaving).map { InputItem(path: $0, provider: index) }
    case .stream(let stream): return [InputItem(path: name, stream: NamedStream(stream, name: name), provider: index)]
    }
  }

  /// Errors that only the provider knows become ours.
  fileprivate static func named<Value>(_ name: FilePath, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as OhanaError { throw error } catch {
      throw OhanaError(.io, "provider-failed", at: .init(name), "the provider failed: \(error)")
    }
  }
}

extension RunOptions {
  /// The run goes on without an input that fails so.
  package func leavesOut(_ error: OhanaError) -> Bool {
    switch onAuth {
    case .fail? where error.code == "auth": false
    case .skip? where error.code == "auth": true
    default: error.category == .io && onProviderError == .skip
    }
  }
}

/// A provider's stream, whose errors name it.
private final class NamedStream: InterruptibleByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let stream: any ByteStream
  private let name: FilePath

  init(_ stream: any ByteStream, name: FilePath) {
    self.stream = stream
    self.name = name
  }

  var inputBytesRead: Int { stream.inputBytesRead }
  var fault: OhanaError? { stream.fault }
  func interrupt() { (stream as? any InterruptibleByteStream)?.interrupt() }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    try InputManager.named(name) { try stream.read(into: buffer) }
  }
}

extension [InputItem] {
  /// Tells of each input's events; nil where nobody listens.
  ///
  /// - Parameter inTurns: the last input of a provider need not be the last that ends.
  func announcer(_ onInput: (@Sendable (InputEvent) -> Void)?, inTurns: Bool) -> (@Sendable (Int, InputEvent.Kind) -> Void)? {
    guard let onInput else { return nil }
    let items = self.map { (path: $0.path, provider: $0.provider) }
    let left = Locked(items.reduce(into: [Int: Int]()) { $0[$1.provider, default: 0] += 1 })
    return { index, kind in
      var isLast = index + 1 == items.count || items[index + 1].provider != items[index].provider
      if inTurns, case .ended = kind {
        isLast = left.withLock { left in
          left[items[index].provider, default: 0] -= 1
          return left[items[index].provider] == 0
        }
      }
      onInput(InputEvent(kind: kind, provider: items[index].provider, name: items[index].path, isLast: isLast))
    }
  }
}
