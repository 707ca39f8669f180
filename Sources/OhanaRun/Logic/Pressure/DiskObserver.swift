internal import Dispatch
internal import OhanaCore

/// Tells what is free on the disk of temporary files, every five seconds until it is let go of.
final class DiskObserver: @unchecked Sendable {  // because its source is made once and never changed
  private let source: any DispatchSourceTimer

  /// - Parameter notify: called on a queue of the observer's own.
  init(_ folder: FilePath, _ notify: @escaping @Sendable (RunEvent) -> Void) {
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ohana.disk"))
    source.schedule(deadline: .now() + 5, repeating: 5, leeway: .seconds(1))
    source.setEventHandler {
      var disk = statvfs()
      guard folder.withCString({ statvfs($0, &disk) }) == 0 else { return }
      notify(.disk(folder, free: Int(disk.f_bavail) * Int(disk.f_frsize)))
    }
    source.resume()
    self.source = source
  }

  deinit { source.cancel() }
}
