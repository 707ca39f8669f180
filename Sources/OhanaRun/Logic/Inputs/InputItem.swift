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
  /// - Parameter skipped: told of what is left out, where the request says so.
  /// - Throws: as ``InputResolver/resolve(_:filesFrom:skip:)``, and `auth` for a provider that may not read; where everything would be left
  ///   out, the first such error.
  func items(of request: RunRequest, skipped: @escaping (OhanaError) -> Void) throws -> [InputItem] {
    var first: OhanaError?
    func skip(_ error: OhanaError, _ provider: Int) {
      first = first ?? error
      skipped(error)
      let name = FilePath(request.providers.isEmpty ? "" : request.providers[provider].identifier)
      request.onInput?(InputEvent(kind: .failed(error), provider: provider, name: name, isLast: false))
    }
    let skips = request.options.onProviderError == .skip
    var items: [InputItem] = []
    if request.providers.isEmpty || !request.inputs.isEmpty || request.filesFrom != nil {
      let skipFile = skips ? { (error: OhanaError) in skip(error, 0) } : nil
      let files = try request.files ?? InputResolver.resolve(request.inputs, filesFrom: request.filesFrom, skip: skipFile)
      items = files.map { InputItem(path: $0) }
    }
    if !skips { for provider in request.providers { try Self.checkAccess(provider) } }
    for (index, provider) in request.providers.enumerated() {
      do {
        try Self.checkAccess(provider)
        items += try Self.items(of: provider, index, skip: skips ? { skip($0, index) } : nil)
      } catch let error as OhanaError where skips && error.category == .io { skip(error, index) }
    }
    if items.isEmpty, let first { throw first }
    return items
  }

  private static func checkAccess(_ provider: any DataProvider) throws {
    let access = provider.access
    guard access != .granted else { return }
    throw OhanaError(
      .io, "auth", at: .init(FilePath(provider.identifier)), "the provider may not read",
      fix: access == .denied ? "grant access to it" : "ask for access first")
  }

  private static func items(of provider: any DataProvider, _ index: Int, skip: ((OhanaError) -> Void)?) throws -> [InputItem] {
    let name = FilePath(provider.identifier)
    switch try named(name, { try provider.open() }) {
    case .files(let paths):
      let files = skip == nil ? paths : try InputResolver.resolve(paths, skip: skip)
      return files.map { InputItem(path: $0, provider: index) }
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
