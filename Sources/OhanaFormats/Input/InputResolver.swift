public import OhanaCore

/// Turns the inputs of a command line into the files to read, all checked before the first is opened.
///
/// | argument | files |
/// |---|---|
/// | `-` | standard input |
/// | a file, pipe or device | itself, whatever its name looks like |
/// | a folder | the files in it, not in folders below, no hidden ones |
/// | else, with `*`, `?` or `[` | the files that match (glob(7)), no folders, no hidden ones |
///
/// Files of a folder or pattern come in byte order of their paths; arguments stay in the order given; the same path is read once.
public struct InputResolver {
  private var files: [FilePath] = []
  private var seen: Set<FilePath> = []

  private init() {}

  /// - Parameters:
  ///   - arguments: as typed.
  ///   - filesFrom: a file (`-` is standard input) that names further files or folders, one a line, or each ended by a NUL if there is
  ///     one. Names in it are no patterns.
  /// - Returns: at least one file.
  /// - Throws: as ``list(_:filesFrom:leavingOut:)`` and ``readable(_:leavingOut:)``.
  public static func resolve(_ arguments: [FilePath], filesFrom list: FilePath? = nil) throws -> [FilePath] {
    try readable(Self.list(arguments, filesFrom: list))
  }

  /// Finds the files, and does not ask whether they may be read.
  ///
  /// - Parameter leavingOut: says whether what cannot be found is left out; otherwise it is thrown.
  /// - Returns: at least one file, unless some were left out.
  /// - Throws: `usage`/`no-input` without any input; `io`: `not-found` naming the file, `auth` for a folder that cannot be looked into, `no-files`
  ///   for a folder, pattern or list that yields none.
  package static func list(
    _ arguments: [FilePath], filesFrom list: FilePath? = nil, leavingOut: (OhanaError) -> Bool = { _ in false }
  ) throws -> [FilePath] {
    guard !arguments.isEmpty || list != nil else {
      throw OhanaError(.usage, "no-input", "no input is named", fix: "name files, folders or patterns, or - for standard input")
    }
    var resolver = InputResolver()
    for argument in arguments { _ = try attempt(leavingOut) { () throws(OhanaError) in try resolver.add(argument, mayBePattern: true) } }
    if let list {
      guard list != "-" || !resolver.seen.contains("-") else {
        throw OhanaError(
          .usage, "input-twice", "standard input cannot be both an input and the list of inputs", fix: "use a file for one of them")
      }
      let names = try Self.names(in: list)
      guard !names.isEmpty else { throw noFiles(list, "the list names no file") }
      for name in names { _ = try attempt(leavingOut) { () throws(OhanaError) in try resolver.add(name, mayBePattern: false) } }
    }
    return resolver.files
  }

  /// Those of the files that may be read.
  ///
  /// - Parameter leavingOut: says whether what may not be read is left out; otherwise it is thrown.
  /// - Throws: `io`: `auth`, `not-found` and what else may be wrong with one, naming it.
  package static func readable(_ files: [FilePath], leavingOut: (OhanaError) -> Bool = { _ in false }) throws -> [FilePath] {
    try files.filter { file in try attempt(leavingOut) { () throws(OhanaError) in try checkAccess(file) } }
  }

  private static func attempt(_ leavingOut: (OhanaError) -> Bool, _ body: () throws(OhanaError) -> Void) throws(OhanaError) -> Bool {
    do throws(OhanaError) { try body() } catch {
      guard leavingOut(error) else { throw error }
      return false
    }
    return true
  }

  /// Bytes of all inputs as they lie on disk, for progress; nil if any of them is no regular file.
  public static func totalSize(of files: [FilePath]) -> Int? {
    var total = 0
    for file in files {
      guard let status = file == "-" ? fileStatus(STDIN_FILENO) : fileStatus(file), status.isRegular else { return nil }
      total += Int(status.st_size)
    }
    return total
  }

  // MARK: Arguments

  private mutating func add(_ argument: FilePath, mayBePattern: Bool) throws(OhanaError) {
    if argument == "-" { return append(argument) }
    if argument.bytes.isEmpty {
      throw OhanaError(.usage, "no-input", "the name of an input is empty", fix: "a variable without a value stands in its place, perhaps")
    }
    if let status = fileStatus(argument) {
      if status.isDirectory { try addFolder(argument) } else { append(argument) }
      return
    }
    let number = errno
    let special: [UInt8] = [UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "[")]
    guard mayBePattern, argument.bytes.contains(where: special.contains) else { throw OhanaError.system(number, "open", argument) }
    try addPattern(argument)
  }

  private mutating func append(_ file: FilePath) {
    if seen.insert(Self.normalised(file)).inserted { files.append(file) }
  }

  private mutating func addFolder(_ folder: FilePath) throws(OhanaError) {
    let found = try folder.folderNames().filter { $0.bytes.first != UInt8(ascii: ".") }.map { folder.appending($0) }
    try append(found, orFail: Self.noFiles(folder, "there is no file in this folder"))
  }

  private mutating func addPattern(_ pattern: FilePath) throws(OhanaError) {
    var matches = glob_t()
    defer { globfree(&matches) }
    // A folder that cannot be read must not look like one without matches.
    let result = pattern.withCString { glob($0, GLOB_ERR | GLOB_NOSORT, nil, &matches) }
    let number = errno
    var found: [FilePath] = []
    switch result {
    case 0:
      for index in 0..<Int(matches.gl_pathc) {
        guard let path = matches.gl_pathv[index] else { continue }
        found.append(FilePath(bytes: UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) }))
      }
    case GLOB_NOMATCH: break
    case GLOB_NOSPACE: throw OhanaError(.memory, "out-of-memory", at: .init(pattern), "there is not enough memory for all matches")
    default: throw OhanaError.system(number, "read the folder of this pattern", pattern)
    }
    found.removeAll { $0.lastComponent.bytes.first == UInt8(ascii: ".") }
    try append(found, orFail: Self.noFiles(pattern, "no file matches this pattern"))
  }

  /// Adds files in byte order, and nothing that is none: a pipe or device is an input only by its name. Links that lead nowhere stay, to
  /// be named by the check that follows.
  private mutating func append(_ found: [FilePath], orFail error: @autoclosure () -> OhanaError) throws(OhanaError) {
    var hasFile = false
    for path in found.sorted() where fileStatus(path)?.isRegular ?? true {
      append(path)
      hasFile = true
    }
    if !hasFile { throw error() }
  }

  private static func noFiles(_ path: FilePath, _ problem: String) -> OhanaError {
    OhanaError(.io, "no-files", at: .init(path), problem, fix: "check the name")
  }

  /// `a//./b` is `a/b`: the same path in another spelling. Links are not looked at.
  private static func normalised(_ path: FilePath) -> FilePath {
    let slash = UInt8(ascii: "/")
    let parts = path.bytes.split(separator: slash).filter { $0.count != 1 || $0.first != UInt8(ascii: ".") }
    return FilePath(bytes: (path.bytes.first == slash ? [slash] : []) + Array(parts.joined(separator: [slash])))
  }

  // MARK: Lists

  private static func names(in list: FilePath) throws -> [FilePath] {
    let file = try FileByteStream(list)
    let text = ByteBuffer()
    while true {
      text.reserve(64 << 10)
      let got = try file.read(into: UnsafeMutableRawBufferPointer(start: text.base + text.count, count: text.capacity - text.count))
      if got == 0 { break }
      text.count += got
    }
    let separator: UInt8 = text.bytes.contains(0) ? 0 : UInt8(ascii: "\n")
    var names = text.bytes.split(separator: separator)
    // A list from elsewhere may end its lines in CR LF; no folder holds only names that end in CR.
    let carriageReturn = UInt8(ascii: "\r")
    if separator != 0, names.allSatisfy({ $0.last == carriageReturn }) {
      names = names.map { $0.dropLast() }.filter { !$0.isEmpty }
    }
    return names.map { FilePath(bytes: Array($0)) }
  }

  // MARK: Access

  /// Opening is the only sure test; what may block or have an effect when opened is only asked about.
  private static func checkAccess(_ file: FilePath) throws(OhanaError) {
    if file == "-" {
      guard fcntl(STDIN_FILENO, F_GETFD) >= 0 else {
        throw OhanaError(.io, "closed-input", at: .init(file), "standard input is closed", fix: "name an input file")
      }
      return
    }
    guard let status = fileStatus(file) else { throw OhanaError.system(errno, "open", file) }
    if status.isRegular {
      let descriptor = openFile(file, O_RDONLY | O_NONBLOCK)
      guard descriptor >= 0 else { throw OhanaError.system(errno, "open", file) }
      close(descriptor)
    } else if file.withCString({ access($0, R_OK) }) != 0 {
      throw OhanaError.system(errno, "open", file)
    }
  }
}
