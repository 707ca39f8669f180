import CStructural

/// The kernels' raw answers as text, to be compared.
enum CSVKernels {
  static let runnable = [OHANA_KERNEL_SCALAR, OHANA_KERNEL_AVX2, OHANA_KERNEL_AVX512, OHANA_KERNEL_NEON].filter(ohana_kernel_runs)

  static func describe(_ kernel: ohana_kernel, _ padded: [UInt8], _ length: Int, _ bytes: ohana_csv_bytes) -> String {
    var frame = ohana_csv_frame()
    ohana_csv_find_frame(kernel, padded, length, bytes, &frame)
    var text = "\(frame.violation) \(frame.last_end) \(frame.in_quotes)\n"
    // The index is asked for legal text only.
    let legal = frame.last_end
    var cells = [UInt32](repeating: 0, count: legal + 65)
    var records = [ohana_csv_record](repeating: ohana_csv_record(), count: legal + 65)
    var index = ohana_csv_index()
    ohana_csv_make_index(kernel, padded, legal, bytes, &cells, legal, &records, legal, &index)
    text += "\(index.cell_count) \(index.record_count) \(index.consumed) \(index.lines) \(index.has_doubled_quotes)\n"
    text += "\(cells.prefix(index.cell_count))\n"
    for record in records.prefix(index.record_count) { text += "\(record.cells_end) \(record.lines) \(record.special)\n" }
    return text
  }
}
