#pragma once
// Copies of field values that look at the bytes on the way. Written with the compiler's own vectors instead of intrinsics, so that Swift
// can inline them. Most fields are short: up to 32 bytes are done without a branch on the length.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint8_t ohana_bytes16 __attribute__((vector_size(16)));
typedef uint64_t ohana_words2 __attribute__((vector_size(16)));

/// All ones in those of 16 bytes whose place, counted from `first`, is below `count`.
static inline __attribute__((always_inline)) ohana_bytes16 ohana_places_below(size_t count, uint8_t first) {
  const ohana_bytes16 place = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return (ohana_bytes16)((ohana_bytes16)(place + first) < (uint8_t)(count < 32 ? count : 32));
}

static inline __attribute__((always_inline)) bool ohana_any_byte(ohana_bytes16 found) {
  ohana_words2 words = (ohana_words2)found;
  return (words[0] | words[1]) != 0;
}

static inline __attribute__((always_inline)) ohana_bytes16 ohana_csv_specials(ohana_bytes16 block, uint8_t delimiter, uint8_t quote) {
  return (ohana_bytes16)((block == delimiter) | (block == quote) | (block == '\n') | (block == '\r'));
}

static inline __attribute__((always_inline)) ohana_bytes16 ohana_json_specials(ohana_bytes16 block) {
  return (ohana_bytes16)((block < 0x20) | (block == '"') | (block == '\\'));
}

/// Copies a cell and says whether it has to be quoted: it holds a delimiter, quote, LF or CR. Reads and writes up to 32 bytes more than
/// `length` on both sides.
static inline __attribute__((always_inline)) bool ohana_csv_copy_cell(
    uint8_t *target, const uint8_t *source, size_t length, uint8_t delimiter, uint8_t quote) {
  ohana_bytes16 found = {0};
  size_t at = 0;
  do {
    ohana_bytes16 head, tail;
    memcpy(&head, source + at, 16);
    memcpy(&tail, source + at + 16, 16);
    memcpy(target + at, &head, 16);
    memcpy(target + at + 16, &tail, 16);
    found |= ohana_csv_specials(head, delimiter, quote) & ohana_places_below(length - at, 0);
    found |= ohana_csv_specials(tail, delimiter, quote) & ohana_places_below(length - at, 16);
    at += 32;
  } while (at < length);
  return ohana_any_byte(found);
}

/// Whether a cell has to be quoted, as `ohana_csv_copy_cell`.
static inline __attribute__((always_inline)) bool ohana_csv_needs_quotes(
    const uint8_t *source, size_t length, uint8_t delimiter, uint8_t quote) {
  ohana_bytes16 found = {0};
  size_t at = 0;
  do {
    ohana_bytes16 head, tail;
    memcpy(&head, source + at, 16);
    memcpy(&tail, source + at + 16, 16);
    found |= ohana_csv_specials(head, delimiter, quote) & ohana_places_below(length - at, 0);
    found |= ohana_csv_specials(tail, delimiter, quote) & ohana_places_below(length - at, 16);
    at += 32;
  } while (at < length);
  return ohana_any_byte(found);
}

/// Copies text and says whether it needs escapes within a JSON string (RFC 8259 section 7): it holds a quote, a backslash or a control
/// character. Reads and writes up to 32 bytes more than `length` on both sides.
static inline __attribute__((always_inline)) bool ohana_json_copy_text(uint8_t *target, const uint8_t *source, size_t length) {
  ohana_bytes16 found = {0};
  size_t at = 0;
  do {
    ohana_bytes16 head, tail;
    memcpy(&head, source + at, 16);
    memcpy(&tail, source + at + 16, 16);
    memcpy(target + at, &head, 16);
    memcpy(target + at + 16, &tail, 16);
    found |= ohana_json_specials(head) & ohana_places_below(length - at, 0);
    found |= ohana_json_specials(tail) & ohana_places_below(length - at, 16);
    at += 32;
  } while (at < length);
  return ohana_any_byte(found);
}

#ifdef __cplusplus
}
#endif
