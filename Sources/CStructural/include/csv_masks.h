#pragma once
// Where the structure of CSV text is: byte classes of 64-byte blocks as bit masks, quote state by prefix-xor.
//
// All of it reads whole 64-byte blocks: 63 bytes behind the text must be readable. Records end with LF here (a CR before it is the
// caller's to strip); text whose records end with a lone CR is not for these kernels.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  OHANA_KERNEL_SCALAR = 0,
  OHANA_KERNEL_AVX2 = 1,
  OHANA_KERNEL_AVX512 = 2,
  OHANA_KERNEL_NEON = 3,
} ohana_kernel;

/// The fastest kernel this processor runs. A few loads; call it once per reader.
ohana_kernel ohana_kernel_best(void);
/// Whether this processor runs `kernel`, for tests that compare them all.
bool ohana_kernel_runs(ohana_kernel kernel);

typedef struct {
  uint8_t delimiter;
  uint8_t quote;
  uint8_t escape;
  bool has_quote;
  bool has_escape;
} ohana_csv_bytes;

/// What one look at a stretch of text found.
typedef struct {
  /// Offset of the first byte that RFC 4180 does not allow where it stands, or of the first escape byte; SIZE_MAX if there is none.
  /// The fault lies in the record that begins at `last_end`.
  size_t violation;
  /// Offset just behind the last LF that ends a record before the violation (or in the whole stretch); 0 if there is none.
  size_t last_end;
  /// The stretch ends inside a quoted cell.
  bool in_quotes;
} ohana_csv_frame;

/// Finds the last record end of `text`, which must begin at a record's first byte, and checks every quote on the way. A closing quote
/// or CR that is the last byte is not judged, since what follows it is not known.
void ohana_csv_find_frame(ohana_kernel kernel, const uint8_t *text, size_t length, ohana_csv_bytes bytes, ohana_csv_frame *frame);

typedef struct {
  /// Index in `cells` behind the record's last cell.
  uint32_t cells_end;
  /// Line ends up to and including the one that ends this record.
  uint32_t lines;
  /// Not 0 if the record holds a quote, or a CR that no LF follows.
  uint32_t special;
} ohana_csv_record;

typedef struct {
  size_t cell_count;
  size_t record_count;
  /// Offset behind the last record listed; less than the length if the room for cells or records ran out.
  size_t consumed;
  /// Line ends in the bytes consumed.
  uint32_t lines;
  /// Some quoted cell holds a doubled quote.
  bool has_doubled_quotes;
} ohana_csv_index;

/// Room that `ohana_csv_make_index` must find behind the capacities it is given.
enum { OHANA_CSV_INDEX_SLACK = 64 };

/// Lists the cell ends (offset of the delimiter or LF behind each cell) and records of `text`, which must be whole records in which
/// `ohana_csv_find_frame` found no violation; the last one may lack its LF. Offsets must fit 32 bits.
void ohana_csv_make_index(
    ohana_kernel kernel, const uint8_t *text, size_t length, ohana_csv_bytes bytes, uint32_t *cells, size_t cell_capacity,
    ohana_csv_record *records, size_t record_capacity, ohana_csv_index *index);

#ifdef __cplusplus
}
#endif
