internal import CISAL
internal import OhanaCore

/// Inflates with ISA-L, straight into the caller's buffer as soon as that holds a window of 32 KiB.
final class ISALInflater: Inflater {
  private let state = UnsafeMutablePointer<inflate_state>.allocate(capacity: 1)
  /// The stream is broken, but bytes before the break are still in ISA-L's own buffer.
  private var isBroken = false
  private(set) var surplus: (bytes: UInt64, count: Int) = (0, 0)

  init() { reset() }
  deinit { state.deallocate() }

  func reset() {
    isal_inflate_init(state)
    isBroken = false
    surplus = (0, 0)
  }

  func inflate(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> InflateStep {
    let room = UInt32(clamping: output.count)
    if isBroken { return InflateStep(outcome: .broken, taken: 0, written: takePending(into: output)) }
    let given = UInt32(clamping: input.count)
    state.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    state.pointee.avail_in = given
    state.pointee.next_out = output.baseAddress
    state.pointee.avail_out = room
    let result = isal_inflate(state)
    var step = InflateStep(
      outcome: .needsInput, taken: Int(given - state.pointee.avail_in), written: Int(room - state.pointee.avail_out))
    if result < 0 {
      isBroken = true
      step.outcome = .broken
      // Whole bytes waiting in the bit buffer were not looked at.
      step.taken -= Int(max(0, state.pointee.read_in_length)) / 8
      step.written += takePending(into: UnsafeMutableBufferPointer(rebasing: output[step.written...]))
    } else if state.pointee.block_state == ISAL_BLOCK_FINISH {
      let bits = max(0, state.pointee.read_in_length)
      surplus = (state.pointee.read_in >> UInt64(bits % 8), Int(bits / 8))
      step.outcome = .end
    } else if state.pointee.avail_out == 0 {
      step.outcome = .outputFull
    }
    return step
  }

  /// Hands out what was decoded before the break.
  private func takePending(into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let pending = Int(state.pointee.tmp_out_valid - state.pointee.tmp_out_processed)
    let taken = min(pending, output.count)
    guard taken > 0, let target = output.baseAddress else { return 0 }
    target.update(from: ohana_isal_pending(state), count: taken)
    state.pointee.tmp_out_processed += Int32(taken)
    return taken
  }

  /// ISA-L decodes up to three literals in one step and takes none of them when the last is cut off, so that what comes out would
  /// depend on how it groups them. This decodes the whole ones.
  func takeCutEnd(into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
    guard state.pointee.block_state == ISAL_BLOCK_CODED else { return 0 }
    var written = 0
    while written < output.count, let (literal, length) = certainLiteral() {
      output[written] = literal
      written += 1
      state.pointee.read_in >>= UInt64(length)
      state.pointee.read_in_length -= length
    }
    return written
  }

  /// The literal that the bits left begin with, whatever might follow them; nil if they do not decide that.
  ///
  /// An entry of ISA-L's table names one to three symbols, but only their total length. A code of `length` bits is the first symbol of
  /// all entries that begin with it and of no others.
  private func certainLiteral() -> (UInt8, Int32)? {
    let bits = min(state.pointee.read_in_length, Self.tableBits)
    guard bits > 0 else { return nil }
    for length in 1...bits {
      let code = UInt32(truncatingIfNeeded: state.pointee.read_in) & (1 << UInt32(length) - 1)
      guard let literal = firstLiteral(code) else { continue }
      let isDecided = (0..<(UInt32(1) << UInt32(Self.tableBits - length))).allSatisfy {
        firstLiteral(code | $0 << UInt32(length)) == literal
      }
      if isDecided { return (literal, length) }
    }
    return nil
  }

  private static let tableBits: Int32 = 12

  /// The first symbol of a table entry, if it is a literal: bits 26 and 27 count the symbols, the lowest bits hold the first; bit 25
  /// marks a code longer than the table's index.
  private func firstLiteral(_ index: UInt32) -> UInt8? {
    let entry = ohana_isal_literal_entry(state, index)
    guard entry & 1 << 25 == 0 else { return nil }
    switch entry >> 26 & 3 {
    case 0: return nil
    case 1: return entry & 0x1ff_ffff < 256 ? UInt8(truncatingIfNeeded: entry) : nil
    default: return UInt8(truncatingIfNeeded: entry)
    }
  }

  /// ISA-L keeps all it knows, the window included, in one struct without pointers of its own. What is written is for the same version
  /// of the library only.
  var canCheckpoint: Bool { !isBroken }

  func save(to writer: CheckpointWriter) throws {
    state.pointee.next_in = nil
    state.pointee.next_out = nil
    try writer.put(UnsafeRawBufferPointer(start: state, count: MemoryLayout<inflate_state>.size))
    try writer.put(surplus.bytes)
    try writer.put(surplus.count)
  }

  func restore(from reader: CheckpointReader) throws {
    guard try reader.count() == MemoryLayout<inflate_state>.size else { throw CheckpointReader.damaged }
    try reader.fill(UnsafeMutableRawBufferPointer(start: state, count: MemoryLayout<inflate_state>.size))
    surplus = (try reader.uint64(), try reader.count(8))
    isBroken = false
  }

  func crc32(_ crc: UInt32, _ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
    guard let start = bytes.baseAddress else { return crc }
    return crc32_gzip_refl(crc, start, UInt64(bytes.count))
  }
}
