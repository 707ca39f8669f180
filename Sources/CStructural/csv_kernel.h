// The loops of csv_masks.h over one instruction set. Included once per set, with
//   KERNEL(name)        the function's name for this set
//   LOAD_MASKS(p, b, m) the byte classes of the 64 bytes at p
//   PREFIX_XOR(x)       bit i = xor of the bits 0...i of x

static void KERNEL(find_frame)(const uint8_t *text, size_t length, ohana_csv_bytes bytes, ohana_csv_frame *frame) {
  uint64_t in_quotes = 0;        // all ones while the byte before the block is inside a quoted cell
  uint64_t may_open = 1;         // the byte before is a delimiter, LF or quote, or the text begins here
  uint64_t closed = 0;           // the byte before closes a cell (or is the first of a doubled pair)
  uint64_t closed_cr = 0;        // the two bytes before are a closing quote and CR
  size_t last_end = 0;
  const uint64_t quotes = bytes.has_quote ? ~(uint64_t)0 : 0, escapes = bytes.has_escape ? ~(uint64_t)0 : 0;
  for (size_t at = 0; at < length; at += 64) {
    masks m;
    LOAD_MASKS(text + at, bytes, m);
    uint64_t valid = length - at < 64 ? ((uint64_t)1 << (length - at)) - 1 : ~(uint64_t)0;
    uint64_t quote = m.quote & quotes & valid, escape = m.escape & escapes & valid, lf = m.lf & valid, delimiter = m.delimiter & valid;
    if (!(quote | in_quotes | closed | closed_cr | escape)) {
      if (lf) last_end = at + 64 - (size_t)__builtin_clzll(lf);
      may_open = (delimiter | lf) >> 63;
      continue;
    }
    uint64_t inside = PREFIX_XOR(quote) ^ in_quotes;  // from an opening quote to the byte before its closing one
    uint64_t opening = quote & inside, closing = quote & ~inside;
    uint64_t edge = delimiter | lf | quote;
    uint64_t after = closing << 1 | closed;
    uint64_t after_cr = (after & m.cr) << 1 | closed_cr;
    uint64_t bad = (opening & ~(edge << 1 | may_open)) | (after & ~(edge | m.cr)) | (after_cr & ~lf) | escape;
    bad &= valid;
    uint64_t ends = lf & ~inside;
    if (bad) {
      ends &= (bad & -bad) - 1;
      if (ends) last_end = at + 64 - (size_t)__builtin_clzll(ends);
      frame->violation = at + (size_t)__builtin_ctzll(bad);
      frame->last_end = last_end;
      frame->in_quotes = false;
      return;
    }
    if (ends) last_end = at + 64 - (size_t)__builtin_clzll(ends);
    in_quotes = (uint64_t)((int64_t)inside >> 63);
    may_open = edge >> 63;
    closed = closing >> 63;
    closed_cr = (after & m.cr) >> 63;
  }
  frame->violation = SIZE_MAX;
  frame->last_end = last_end;
  frame->in_quotes = in_quotes != 0;
}

static void KERNEL(make_index)(
    const uint8_t *text, size_t length, ohana_csv_bytes bytes, uint32_t *cells, size_t cell_capacity, ohana_csv_record *records,
    size_t record_capacity, ohana_csv_index *index) {
  uint64_t in_quotes = 0, before_cr = 0, before_closed = 0, special = 0;
  uint64_t doubled = 0;
  size_t cell_count = 0, record_count = 0, consumed = 0;
  uint32_t lines = 0;
  const uint64_t quotes = bytes.has_quote ? ~(uint64_t)0 : 0;
  size_t at = 0;
  for (; at < length; at += 64) {
    if (cell_count >= cell_capacity || record_count >= record_capacity) break;
    masks m;
    LOAD_MASKS(text + at, bytes, m);
    uint64_t valid = length - at < 64 ? ((uint64_t)1 << (length - at)) - 1 : ~(uint64_t)0;
    uint64_t quote = m.quote & quotes & valid, lf = m.lf & valid, cr = m.cr & valid;
    uint64_t inside = in_quotes;
    if (quote) {
      inside ^= PREFIX_XOR(quote);
      uint64_t closing = quote & ~inside;
      doubled |= (closing << 1 | before_closed) & quote;
      before_closed = closing >> 63;
      in_quotes = (uint64_t)((int64_t)inside >> 63);
    } else {
      before_closed = 0;
    }
    uint64_t odd = quote | ((cr << 1 | before_cr) & ~lf & valid);
    before_cr = cr >> 63;
    uint64_t ends = lf & ~inside;
    uint64_t stops = ((m.delimiter & valid) & ~inside) | ends;
    // Positions, eight at a time whether needed or not: most blocks have fewer, and a loop per bit would mispredict.
    uint32_t *next = cells + cell_count;
    size_t found = (size_t)__builtin_popcountll(stops);
    uint64_t rest = stops;
    uint32_t place = (uint32_t)at;
    for (size_t done = 0; done < found; done += 8) {
      for (int i = 0; i < 8; i++) {
        next[done + (size_t)i] = place + (uint32_t)(rest ? __builtin_ctzll(rest) : 64);
        rest &= rest - 1;
      }
    }
    while (ends) {
      uint64_t bit = ends & -ends, up_to = bit | (bit - 1);
      records[record_count].cells_end = (uint32_t)(cell_count + (size_t)__builtin_popcountll(stops & up_to));
      records[record_count].lines = lines + (uint32_t)__builtin_popcountll(lf & up_to);
      records[record_count].special = (uint32_t)((special | (odd & up_to)) != 0);
      record_count++;
      special = 0;
      odd &= ~up_to;
      ends &= ends - 1;
      consumed = at + (size_t)__builtin_ctzll(bit) + 1;
    }
    special |= odd;
    cell_count += found;
    lines += (uint32_t)__builtin_popcountll(lf);
  }
  if (at >= length && consumed < length) {  // the last record of an input may end without LF
    cells[cell_count++] = (uint32_t)length;
    records[record_count].cells_end = (uint32_t)cell_count;
    records[record_count].lines = lines;
    records[record_count].special = (uint32_t)(special != 0);
    record_count++;
    consumed = length;
  }
  index->record_count = record_count;
  index->cell_count = record_count ? records[record_count - 1].cells_end : 0;
  index->consumed = consumed;
  index->lines = record_count ? records[record_count - 1].lines : 0;
  index->has_doubled_quotes = doubled != 0;
}
