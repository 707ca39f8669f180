internal import CZlib

/// Inflates with zlib: the reference, and the fallback of `--codec zlib`.
final class ZlibInflater: Inflater {
  // Allocated, since zlib checks that its stream has not moved.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var isBroken = false

  init() {
    stream.initialize(to: z_stream())
    let result = ohana_zlib_inflate_init(stream, -MAX_WBITS)
    precondition(result == Z_OK, "zlib cannot be initialised: out of memory or another version")
  }
  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  func reset() {
    inflateReset(stream)
    isBroken = false
  }

  var surplus: (bytes: UInt64, count: Int) { (0, 0) }

  func inflate(_ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> InflateStep {
    if isBroken { return InflateStep(outcome: .broken, taken: 0, written: 0) }
    let given = UInt32(clamping: input.count)
    let room = UInt32(clamping: output.count)
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = given
    stream.pointee.next_out = output.baseAddress
    stream.pointee.avail_out = room
    let result = CZlib.inflate(stream, Z_NO_FLUSH)
    var step = InflateStep(
      outcome: .needsInput, taken: Int(given - stream.pointee.avail_in), written: Int(room - stream.pointee.avail_out))
    switch result {
    case Z_STREAM_END: step.outcome = .end
    case Z_OK, Z_BUF_ERROR: if stream.pointee.avail_out == 0 { step.outcome = .outputFull }
    default:
      isBroken = true
      step.outcome = .broken
    }
    return step
  }

  func takeCutEnd(into output: UnsafeMutableBufferPointer<UInt8>) -> Int { 0 }

  func crc32(_ crc: UInt32, _ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
    guard let start = bytes.baseAddress else { return crc }
    return UInt32(truncatingIfNeeded: CZlib.crc32_z(UInt(crc), start, bytes.count))
  }
}
