internal import Dispatch
internal import OhanaCore

/// Tells when the disk of temporary files is nearly full: less than 64 MiB, looked at every five seconds until it is let go of.
final class DiskObserver: @unchecked Sendable {  // because its source is made once and never changed
  private let source: any DispatchSourceTimer

  /// - Parameter dispatch: called on a queue of the observer's own.
  init(_ folder: FilePath, _ dispatch: @escaping @Sendable (any RunUpdater) -> Void) {
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ohana.disk"))
    source.schedule(deadline: .now() + 5, repeating: 5, leeway: .seconds(1))
    source.setEventHandler {
      var disk = statvfs()
      guard folder.withCString({ statvfs($0, &disk) }) == 0 else { return }
      let free = Int(disk.f_bavail) * Int(disk.f_frsize)
      if free < 64 << 20 { dispatch(PressureActions.ShortDisk(folder: folder, free: free)) }
    }
    source.resume()
    self.source = source
  }

  deinit { source.cancel() }
}
