internal import OhanaCore
internal import OhanaEngine

/// A run's state folder, and the journal in it: what a killed run left, and what the next one goes on from.
///
/// The folder lies in `--temp-dir`, is called `ohana-NAME-…` by the output's name, and has mode 0700. It holds
///
/// | file | what |
/// |---|---|
/// | `journal` | the durable changes of the state, in order |
/// | `checkpoint-N` | what the parts of the flow remembered at checkpoint N; only the last one counts |
/// | `spill-N` | temporary files of stages |
///
/// The journal:
///
/// ```
/// "OHANAJ" │ u16 version = 1                         8 bytes
/// u32 length │ u64 XXH3 of the text │ text           for each change; numbers are little-endian
/// ```
///
/// A text is JSON: `{"name":NAME,"value":{…}}`, with the ``DurableUpdater/journalName`` and the properties of the change. Entries are
/// appended before the change applies, and synced where ``DurableUpdater/isSynced`` says so. A last entry that is cut off or does not match its
/// checksum was being written when the machine stopped, and does not count; any other that does not match is damage.
final class Journal: Sendable {
  static let name: FilePath = "journal"
  static let magic = Array("OHANAJ".utf8) + [1, 0]
  /// More than any change is long.
  static let longestEntry = 64 << 20

  let folder: FilePath
  private let descriptor: Int32

  init(_ folder: FilePath, descriptor: Int32) {
    self.folder = folder
    self.descriptor = descriptor
  }
  deinit { close(descriptor) }

  /// Appends a change, and waits until it is on disk where it has to be.
  func append(_ updater: some DurableUpdater) throws {
    let text = try JSONCoding.line(Entry(value: updater))
    var bytes: [UInt8] = []
    withUnsafeBytes(of: UInt32(text.count).littleEndian) { bytes += $0 }
    withUnsafeBytes(of: XXH3Digest.value(of: text).littleEndian) { bytes += $0 }
    bytes += text
    let number = bytes.withUnsafeBytes { writeFully(descriptor, $0) }
    guard number == 0 else { throw OhanaError.system(number, "write the journal in", folder, fix: Self.fix) }
    guard type(of: updater).isSynced else { return }
    guard fdatasync(descriptor) == 0 else { throw OhanaError.system(errno, "write the journal in", folder, fix: Self.fix) }
  }

  static let fix = "free some space or name another folder with --temp-dir"

  private struct Entry<Value: DurableUpdater>: Encodable {
    var name = Value.journalName
    var value: Value
  }
}

/// Hands durable changes to the journal before they apply, once there is one.
final class JournalInterceptor: RunInterceptor {
  private let journal: Locked<Journal?>
  init(_ journal: Locked<Journal?>) { self.journal = journal }

  func chain(
    state: @escaping @Sendable () -> RunState, next: @escaping @Sendable (any RunUpdater) throws -> Void
  ) -> @Sendable (any RunUpdater) throws -> Void {
    { [journal] updater in
      if let durable = updater as? any DurableUpdater, let journal = journal.withLock({ $0 }) { try journal.append(durable) }
      try next(updater)
    }
  }
}
