internal import OhanaCore

/// The keys of a suppression list as fingerprints: the first MiB in memory, the rest in a file until the run begins and memory is shared.
final class ListFingerprints {
  private let memory = ByteBuffer()
  private var file: (any SpillFile)?
  private let spill: any SpillStore
  private(set) var count = 0

  /// - Throws: what reading the list throws, and `usage` for a key that it has no column for.
  init(_ path: FilePath, keys: [EqualityKey], isHashed: Bool, _ context: StageContext) throws {
    spill = context.spill
    let seed = context.settings.fingerprintSeed
    let scratch = KeyScratch()
    let add: (RecordBatch) throws -> Void = { batch in
      let parts = keys.indices.map { BoundEqualityKey(slot: $0, kind: isHashed ? .exact : keys[$0].kind) }
      for index in 0..<batch.selectedCount {
        let record = Int(batch.selection[index])
        let fingerprint =
          isHashed
          ? Self.digest(batch, record, seed, scratch)
          : FingerprintMaker.fingerprint(parts, record, of: batch, .equalNothing, seed, scratch)
        if !fingerprint.isNone { try self.append(fingerprint) }
      }
    }
    let names = keys.map(\.source).compactMap { if case .field(let name) = $0 { name } else { nil as FieldName? } }
    if names.count == keys.count {
      do {
        try context.readList(path, names, add)
      } catch let error as OhanaError where error.code == "unknown-field" && keys.count == 1 {
        // No column of that name: its only one will do.
        forget()
        guard (try? context.readList(path, nil, add)) != nil else { throw error }
      }
    } else if keys.count == 1 {
      try context.readList(path, nil, add)
    } else {
      throw OhanaError(
        .usage, "bad-key", "suppress: a list cannot be read by several keys of which one is an expression", fix: "set a field to it before")
    }
  }

  deinit { file?.remove() }

  private func append(_ fingerprint: Fingerprint) throws {
    if memory.count >= 1 << 20 {
      if file == nil { file = try spill.makeFile() }
      try file!.append(UnsafeRawBufferPointer(memory.bytes))
      memory.removeAll()
    }
    memory.reserve(16)
    UnsafeMutableRawPointer(memory.base + memory.count).storeBytes(of: fingerprint, as: Fingerprint.self)
    memory.count += 16
    count += 1
  }

  private func forget() {
    memory.removeAll()
    file?.remove()
    file = nil
    count = 0
  }

  func forEach(_ body: (Fingerprint) throws -> Void) throws {
    if let file {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
      defer { buffer.deallocate() }
      var offset = 0
      while offset < file.size {
        let wanted = min(buffer.count, file.size - offset)
        var filled = 0
        while filled < wanted {
          let read = try file.read(at: offset + filled, into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<wanted]))
          guard read > 0 else {
            throw OhanaError(
              .io, "spill-truncated", "a temporary file is shorter than what was written to it", fix: "try another --temp-dir")
          }
          filled += read
        }
        for start in stride(from: 0, to: wanted, by: 16) { try body(buffer.loadUnaligned(fromByteOffset: start, as: Fingerprint.self)) }
        offset += wanted
      }
    }
    for start in stride(from: 0, to: memory.count, by: 16) {
      try body(UnsafeRawPointer(memory.base + start).loadUnaligned(as: Fingerprint.self))
    }
  }

  /// The fingerprint of a digest written in hexadecimal, in either case; none for other text.
  private static func digest(_ batch: RecordBatch, _ record: Int, _ seed: UInt64, _ scratch: KeyScratch) -> Fingerprint {
    var text = batch.text(of: batch.field(0, of: record), scratch: scratch.text.decoded)[...]
    while let first = text.first, first <= 0x20 { text = text.dropFirst() }
    while let last = text.last, last <= 0x20 { text = text.dropLast() }
    guard text.count == 64 else { return .none }
    scratch.key.removeAll()
    var high: UInt8 = 0
    for (index, byte) in text.enumerated() {
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46, 0x61...0x66: digit = (byte | 0x20) - 0x61 + 10
      default: return .none
      }
      if index % 2 == 0 { high = digit } else { scratch.key.append(high << 4 | digit) }
    }
    return fingerprint(of: scratch.key.base, count: 32, seed: seed)
  }
}

/// Row-local: fingerprints of the SHA-256 of keys' texts.
final class DigestFingerprintMaker: RowStage {
  private let part: BoundEqualityKey
  private let seed: UInt64
  private let pool = ScratchPool { KeyScratch() }
  private let sha256: Digest

  /// - Throws: `usage` where OpenSSL gives no SHA-256.
  init(_ part: BoundEqualityKey, seed: UInt64) throws(OhanaError) {
    guard let sha256 = Digest("SHA256") else {
      throw OhanaError(.usage, "no-digest", "this OpenSSL has no SHA-256, which --hashed needs", fix: "check its configuration")
    }
    self.sha256 = sha256
    self.part = part
    self.seed = seed
  }

  func process(_ batch: RecordBatch) throws -> StageTally {
    let scratch = pool.take()
    defer { pool.give(scratch) }
    batch.reserveFingerprints()
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: sha256.size) { digest in
      for index in 0..<batch.selectedCount {
        scratch.key.removeAll()
        let field = batch.field(part.slot, of: Int(batch.selection[index]))
        guard appendKeyText(part.kind, of: field, in: batch, to: scratch.key, scratch: scratch.text) else {
          batch.fingerprints[index] = .none
          continue
        }
        sha256.write(of: scratch.key.bytes, to: digest.baseAddress!)
        batch.fingerprints[index] = fingerprint(of: digest.baseAddress, count: sha256.size, seed: seed)
      }
    }
    return StageTally()
  }
}
