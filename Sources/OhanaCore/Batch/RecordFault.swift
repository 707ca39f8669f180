/// What is wrong with one record, as a stage finds it, which knows no input by name; whoever does says where the record stands.
package struct RecordFault: Error {
  package var error: OhanaError
  package let origin: RecordOrigin

  package init(_ error: OhanaError, in record: Int, of batch: RecordBatch) {
    self.error = error
    origin = batch.origin(of: record)
  }
}
