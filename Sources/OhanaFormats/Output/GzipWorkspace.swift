public import OhanaCore

/// What gzip outputs of one level share: the threads that compress, and memory that goes from block to block.
public final class GzipWorkspace: Sendable {
  /// What it can be used for: memory of one level does not serve another.
  public let level: CompressionLevel
  let pool: any WorkPool
  /// Blocks of one output under way at once.
  let blocksUnderWay: Int

  private struct Spares {
    var compressors: [BlockCompressor] = []
    var texts: [ByteBuffer] = []
    var fragments: [ByteBuffer] = []
  }
  private let spares = Locked(Spares())

  /// - Parameter blocksUnderWay: blocks of 1 MiB, and their fragments, that one output holds at most, besides the one being filled;
  ///   by default one more than the pool has threads.
  public init(level: CompressionLevel, pool: any WorkPool, blocksUnderWay: Int? = nil) {
    precondition(blocksUnderWay ?? 1 > 0, "at least one block must be under way")
    self.level = level
    self.pool = pool
    self.blocksUnderWay = blocksUnderWay ?? pool.width + 1
  }

  func takeCompressor() -> BlockCompressor { spares.withLock { $0.compressors.popLast() } ?? BlockCompressor(level) }
  func takeText() -> ByteBuffer { spares.withLock { $0.texts.popLast() } ?? ByteBuffer(capacity: BlockCompressor.blockSize) }
  func takeFragment() -> ByteBuffer { spares.withLock { $0.fragments.popLast() } ?? ByteBuffer() }

  func give(_ compressor: BlockCompressor, text: ByteBuffer) {
    text.removeAll()
    spares.withLock {
      $0.compressors.append(compressor)
      $0.texts.append(text)
    }
  }

  func give(fragment: ByteBuffer) {
    fragment.removeAll()
    spares.withLock { $0.fragments.append(fragment) }
  }
}
