// The first stage of simdjson behind a C interface: where the structure of a JSON text lies.
#ifndef OHANA_SIMDJSON_H
#define OHANA_SIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Working memory for one thread at a time.
typedef struct ohana_json_indexer ohana_json_indexer;

/// What the text is; anything but `ok` and `empty` means that some byte of it is at fault, not which.
typedef enum ohana_json_status {
  OHANA_JSON_OK = 0,
  /// White space only.
  OHANA_JSON_EMPTY = 1,
  /// Bad UTF-8, a control character in a string, or a string without an end.
  OHANA_JSON_FAULTY = 2,
  /// No memory for the index, which needs four bytes for each byte of text.
  OHANA_JSON_NO_MEMORY = 3
} ohana_json_status;

/// A new indexer without memory, or NULL.
ohana_json_indexer *ohana_json_indexer_create(void);
void ohana_json_indexer_destroy(ohana_json_indexer *indexer);

/// Finds the structural bytes of `length` bytes of text: braces, brackets, colons and commas outside strings, opening quotes, and the
/// first bytes of all other tokens, in ascending order. Checks UTF-8 and control characters in strings, nothing else.
///
/// On success `*indexes` holds `*count` offsets and room for eight more that the caller may write, valid until the next call.
/// Needs fewer than 4 GiB of text, and reads none behind it.
ohana_json_status ohana_json_index(
    ohana_json_indexer *indexer, const uint8_t *text, size_t length, uint32_t **indexes, size_t *count);

/// Number of line feeds in a text.
static inline size_t ohana_count_line_feeds(const uint8_t *text, size_t length) {
  size_t count = 0;
  for (size_t at = 0; at < length; ++at) count += text[at] == '\n';
  return count;
}

/// Name of the kernel chosen for this processor: `icelake`, `haswell`, `arm64` …
const char *ohana_json_kernel(void);

#ifdef __cplusplus
}
#endif
#endif
