extension OhanaError {
  /// The run was ended by who asked for it, or by a signal.
  package static let cancelled = OhanaError(.io, "cancelled", "the run was cancelled")

  /// What a failed system call on `path` means to a person. Category `io`; codes `not-found`, `auth`, `is-directory`, `disk-full`,
  /// `closed-pipe`, `too-many-files` and `io-error`.
  ///
  /// - Parameters:
  ///   - number: `errno` right after the call.
  ///   - doing: what was tried, as an infinitive: `read`, `write`.
  ///   - path: the file or folder to name.
  ///   - fix: replaces the usual advice where the caller knows better.
  ///   - bytes: how many were to be written; told, with what is free, where the disk is full.
  public static func system(_ number: Int32, _ doing: String, _ path: FilePath, fix: String? = nil, bytes: Int = 0) -> OhanaError {
    let isStandard = path == "-"
    var error = system(number, doing, isStandard && doing == "write" ? "standard output" : path, fix)
    // What is free of a file system says nothing of a limit, and nothing of a device that lies in it.
    guard number == ENOSPC || number == EDQUOT, bytes > 0, !isStandard else { return error }
    let status = fileStatus(path)
    guard status.map({ $0.isDirectory || $0.isRegular }) ?? true else { return error }
    var disk = statvfs()
    let folder = status?.isDirectory == true ? path : path.parent
    if folder.withCString({ statvfs($0, &disk) }) == 0 {
      error.problem += " (\(bytes) bytes to write, \(Int(disk.f_bavail) * Int(disk.f_frsize)) free)"
    }
    return error
  }

  private static func system(_ number: Int32, _ doing: String, _ path: FilePath, _ fix: String?) -> OhanaError {
    func make(_ code: String, _ problem: String, _ usualFix: String) -> OhanaError {
      OhanaError(.io, code, at: Location(path), problem, fix: fix ?? usualFix)
    }
    switch number {
    case ENOENT: return make("not-found", "cannot \(doing): no such file or folder", "check the name")
    case ENOTDIR: return make("not-found", "cannot \(doing): a part of the path is not a folder", "check the name")
    case EACCES, EPERM: return make("auth", "cannot \(doing): permission denied", "check the access rights of the file and its folders")
    case EROFS: return make("auth", "cannot \(doing): the file system is read-only", "choose another folder")
    case EISDIR: return make("is-directory", "cannot \(doing): it is a folder", "name a file")
    case ENOSPC: return make("disk-full", "cannot \(doing): no space left on the device", "free some space or choose another folder")
    case EDQUOT: return make("disk-full", "cannot \(doing): the disk quota is used up", "free some space or choose another folder")
    case EFBIG: return make("disk-full", "cannot \(doing): the file would be larger than allowed", "raise the limit (ulimit -f)")
    case EPIPE: return make("closed-pipe", "cannot \(doing): the reader closed the pipe", "")
    case EMFILE, ENFILE: return make("too-many-files", "cannot \(doing): too many open files", "raise the limit (ulimit -n)")
    case EBADF: return make("closed", "cannot \(doing): it is closed", "name a file instead")
    case ELOOP: return make("io-error", "cannot \(doing): too many symbolic links", "check the name")
    case ENAMETOOLONG: return make("io-error", "cannot \(doing): the name is too long", "choose a shorter name")
    default: return make("io-error", "cannot \(doing): \(String(cString: strerror(number)))", "")
    }
  }
}
