internal import OhanaCore
internal import OhanaFormats

/// An input before it is looked at: a file, or what a provider gives.
struct InputItem: Sendable {
  var path: FilePath
  var stream: (any ByteStream)?
  /// Index of the provider.
  var provider = 0
}

extension InputManager {
  /// What a request names, in order.
  ///
  /// - Throws: as ``InputResolver/resolve(_:filesFrom:)``, and `auth` for a provider that may not read.
  func items(of request: RunRequest) throws -> [InputItem] {
    guard !request.providers.isEmpty else {
      return try (request.files ?? InputResolver.resolve(request.inputs, filesFrom: request.filesFrom)).map { InputItem(path: $0) }
    }
    for provider in request.providers where provider.access != .granted {
      throw OhanaError(
        .io, "auth", at: .init(FilePath(provider.identifier)), "the provider may not read",
        fix: provider.access == .denied ? "grant access to it" : "ask for access first")
    }
    var items: [InputItem] = []
    for (index, provider) in request.providers.enumerated() {
      let name = FilePath(provider.identifier)
      switch try Self.named(name, { try provider.open() }) {
      case .files(let paths): items += paths.map { InputItem(path: $0, provider: index) }
      case .stream(let stream): items.append(InputItem(path: name, stream: NamedStream(stream, name: name), provider: index))
      }
    }
    return items
  }

  /// Errors that only the provider knows become ours.
  fileprivate static func named<Value>(_ name: FilePath, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as OhanaError { throw error } catch {
      throw OhanaError(.io, "provider-failed", at: .init(name), "the provider failed: \(error)")
    }
  }
}

/// A provider's stream, whose errors name it.
private final class NamedStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let stream: any ByteStream
  private let name: FilePath

  init(_ stream: any ByteStream, name: FilePath) {
    self.stream = stream
    self.name = name
  }

  var inputBytesRead: Int { stream.inputBytesRead }
  var fault: OhanaError? { stream.fault }
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    try InputManager.named(name) { try stream.read(into: buffer) }
  }
}

extension [InputItem] {
  /// Tells of each input's events; nil where nobody listens.
  func announcer(_ onInput: (@Sendable (InputEvent) -> Void)?) -> (@Sendable (Int, InputEvent.Kind) -> Void)? {
    guard let onInput else { return nil }
    let items = self.map { (path: $0.path, provider: $0.provider) }
    return { index, kind in
      let isLast = index + 1 == items.count || items[index + 1].provider != items[index].provider
      onInput(InputEvent(kind: kind, provider: items[index].provider, name: items[index].path, isLast: isLast))
    }
  }
}
