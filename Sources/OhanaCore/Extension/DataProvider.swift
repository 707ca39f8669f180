/// Gives records to a run: an extension point.
///
/// A provider gives text, NDJSON or CSV, told by its first bytes, in pieces as large as it likes. It costs one call per piece; finding records
/// and fields in it is the reader's work, on all threads. Where records are made in memory, ``ProviderStream`` and ``ContactsProvider``
/// are all there is to write.
public protocol DataProvider: Sendable {
  /// Unique among the providers of a data source. The records' source is called this in messages, books and ids, unless it is a file.
  var identifier: String { get }
  /// Whether the provider may read what it is about to give. Asked before any record is read, and again behind a consent; it must not ask a
  /// person itself.
  var access: ProviderAccess { get }
  /// Opens what there is, from its beginning. Called once a run, and from any thread.
  ///
  /// - Throws: anything; an error that is no ``OhanaError`` is told as `provider-failed`.
  func open() throws -> ProviderContent
}

extension DataProvider {
  public var access: ProviderAccess { .granted }
}

/// Whether a provider may read.
public enum ProviderAccess: Sendable, Equatable {
  /// It may read.
  case granted
  /// Somebody has to be asked first.
  case undecided
  /// It may not, and asking again is of no use.
  case denied
}

/// What a provider gives.
public enum ProviderContent: Sendable {
  /// Files, read in this order, packed by gzip or not.
  case files([FilePath])
  /// Text of NDJSON or CSV in UTF-8.
  case stream(any ByteStream)
}

/// A provider's way through a run.
public enum ProviderStatus: String, Sendable, Codable {
  /// Nothing of it has been read.
  case initialized
  /// Records come out.
  case processing
  /// All of it was read, or as much as was wanted.
  case loaded
  /// It ended with an error; in reports `error`.
  case failed = "error"
  /// It was told to end.
  case cancelled
}

/// Text that is made when it is asked for.
///
/// ```swift
/// ProviderStream { text in
///   guard let row = rows.next() else { return false }
///   text.append(string: "{\"email\":\"\(row.email)\"}\n")
///   return true
/// }
/// ```
public final class ProviderStream: ByteStream, @unchecked Sendable {  // because one piece of work at a time uses it
  private let fill: @Sendable (ByteBuffer) throws -> Bool
  private let text = ByteBuffer()
  private var taken = 0
  private var isOver = false
  public private(set) var inputBytesRead = 0

  /// - Parameter fill: appends some text to an empty buffer, best in pieces of 64 KiB or more; returns false when there is no more. What it
  ///   appends before it returns false counts. Called by one piece of work at a time.
  public init(_ fill: @escaping @Sendable (ByteBuffer) throws -> Bool) { self.fill = fill }

  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while taken == text.count {
      if isOver { return 0 }
      text.removeAll()
      taken = 0
      isOver = try !fill(text)
    }
    let count = min(buffer.count, text.count - taken)
    buffer.copyMemory(from: UnsafeRawBufferPointer(start: text.base + taken, count: count))
    taken += count
    inputBytesRead += count
    return count
  }
}

/// Gives contacts that are in memory, or come out of a sequence.
public struct ContactsProvider: DataProvider {
  public let identifier: String
  private let contacts: @Sendable () throws -> any Sequence<Contact>

  /// - Parameter contacts: makes the sequence anew for each run.
  public init(_ identifier: String, _ contacts: @escaping @Sendable () throws -> any Sequence<Contact>) {
    self.identifier = identifier
    self.contacts = contacts
  }

  public func open() throws -> ProviderContent { .stream(try stream()) }

  /// The contacts as text, for providers that are made of this one.
  public func stream() throws -> ProviderStream {
    let contacts = ContactText(try contacts().makeIterator())
    return ProviderStream { try contacts.fill($0) }
  }

  private final class ContactText: @unchecked Sendable {  // because its stream is used by one piece of work at a time
    private var contacts: any IteratorProtocol<Contact>
    init(_ contacts: any IteratorProtocol<Contact>) { self.contacts = contacts }

    func fill(_ text: ByteBuffer) throws -> Bool {
      while text.count < 1 << 16 {
        guard let contact = contacts.next() else { return false }
        contact.record.appendJSON(to: text)
        text.append(0x0a)
      }
      return true
    }
  }
}
