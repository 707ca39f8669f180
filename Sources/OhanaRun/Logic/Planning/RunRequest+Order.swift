internal import OhanaCore

extension RunRequest {
  /// Order of arrival is another one the next time, so that nothing goes with it for which inputs have to be read twice.
  ///
  /// - Parameter readsTwice: the columns have to be known before the first record is written.
  /// - Throws: `usage`.
  func checkOrder(readsTwice: Bool = false) throws {
    guard options.interleave else { return }
    func refuse(_ what: String, _ why: String, _ fix: String) -> OhanaError {
      OhanaError(.usage, "order-of-arrival", "--interleave does not go with \(what): \(why)", fix: fix)
    }
    if options.resume { throw refuse("--resume", "records would come in another order than before", "leave out one of them") }
    if options.ragged == .pad {
      throw refuse("--ragged pad", "every input would have to be read to its end first", "leave out one of them")
    }
    if readsTwice {
      throw refuse(
        "CSV written on the way from NDJSON", "every input would have to be read to its end first, for the columns",
        "name them with --columns, or write to one file with -o")
    }
  }

  /// Worth telling before the first record.
  var orderNotes: [String] {
    options.interleave ? ["--interleave: records come in the order in which they arrive, which may be another the next time"] : []
  }
}
