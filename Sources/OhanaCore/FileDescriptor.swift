// read(2) and its kin with their special cases, for all that does files.

/// read(2), again after a signal. Returns the bytes read, 0 at the end, -1 with `errno` set.
package func readSome(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
  guard let start = buffer.baseAddress, buffer.count > 0 else { return 0 }
  while true {
    let got = read(descriptor, start, min(buffer.count, 1 << 30))
    if got >= 0 || errno != EINTR { return got }
  }
}

/// pread(2) until the buffer is full or the file ends, again after a signal. Returns the bytes read, -1 with `errno` set.
package func readFully(_ descriptor: Int32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
  guard let start = buffer.baseAddress else { return 0 }
  var done = 0
  while done < buffer.count {
    let got = pread(descriptor, start + done, min(buffer.count - done, 1 << 30), off_t(offset + done))
    if got == 0 { break }
    if got > 0 { done += got } else if errno != EINTR { return -1 }
  }
  return done
}

/// write(2) until all bytes are out, again after a signal, waiting where the descriptor was made non-blocking by someone else.
/// Returns 0, or `errno` of what failed; some bytes may be out then.
package func writeFully(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
  guard let start = bytes.baseAddress else { return 0 }
  var done = 0
  while done < bytes.count {
    let sent = write(descriptor, start + done, min(bytes.count - done, 1 << 30))
    if sent >= 0 {
      done += sent
    } else if errno == EAGAIN {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&waiting, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return 0
}

/// Asks the system to begin writing a stretch of a file to disk, without waiting for it. Only a hint: failures do not matter.
package func beginWriteback(_ descriptor: Int32, from offset: Int, count: Int) {
  #if os(Linux)
    // Linux starts to write the dirty pages of a stretch that will not be needed.
    _ = posix_fadvise(descriptor, off_t(offset), off_t(count), POSIX_FADV_DONTNEED)
  #endif
}

/// open(2), again after a signal, closed in child processes. Returns -1 with `errno` set.
package func openFile(_ path: FilePath, _ flags: Int32, mode: mode_t = 0) -> Int32 {
  while true {
    let descriptor = path.withCString { open($0, flags | O_CLOEXEC, mode) }
    if descriptor >= 0 || errno != EINTR { return descriptor }
  }
}

/// stat(2) or lstat(2); nil with `errno` set.
package func fileStatus(_ path: FilePath, followsLinks: Bool = true) -> stat? {
  var status = stat()
  let result = path.withCString { followsLinks ? stat($0, &status) : lstat($0, &status) }
  return result == 0 ? status : nil
}

/// fstat(2); nil with `errno` set.
package func fileStatus(_ descriptor: Int32) -> stat? {
  var status = stat()
  return fstat(descriptor, &status) == 0 ? status : nil
}

extension stat {
  package var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
  package var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
  package var isCharacterDevice: Bool { st_mode & S_IFMT == S_IFCHR }
}
