import Ohana

/// Keeps contacts whose field `phone` begins with a code.
public struct AreaCodePostProcessor: PostProcessor {
  public let code: String
  public var text: String { "area-code \(code)" }
  public var makesRows: Bool { false }

  public init(_ code: String) { self.code = code }

  public func bind(_ schema: inout RecordSchema, _ context: StageContext) throws -> [StageStep] {
    [.row(Step(slot: try schema.slot(reading: "phone"), code: Array(code.utf8)))]
  }

  private struct Step: RowStage {
    let slot: Int
    let code: [UInt8]

    func process(_ batch: RecordBatch) throws -> StageTally {
      let scratch = ByteBuffer()  // for values with escapes
      let dropped = code.withUnsafeBufferPointer { code in
        batch.filterSelection { record in
          let value = batch.text(of: batch.field(slot, of: record), scratch: scratch)
          return code.isEmpty || value.count >= code.count && memcmp(value.baseAddress!, code.baseAddress!, code.count) == 0
        }
      }
      return StageTally(dropped: dropped)
    }
  }
}
