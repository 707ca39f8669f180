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

/// Looks at `length` bytes for what is special in a JSON string or a CSV cell, and copies them unless `target` is NULL. Which of it is asked
/// for is a constant where it is called, so that nothing of the rest is left.
static inline __attribute__((always_inline)) bool ohana_scan_text(
    uint8_t *target, const uint8_t *source, size_t length, bool is_json, uint8_t delimiter, uint8_t quote) {
  ohana_bytes16 found = {0};
  size_t at = 0;
  do {
    for (uint8_t half = 0; half < 32; half += 16) {
      ohana_bytes16 block;
      memcpy(&block, source + at + half, 16);
      if (target) memcpy(target + at + half, &block, 16);
      ohana_bytes16 special = is_json ? ohana_json_specials(block) : ohana_csv_specials(block, delimiter, quote);
      found |= special & ohana_places_below(length - at, half);
    }
    at += 32;
  } while (at < length);
  return ohana_any_byte(found);
}

/// Copies a cell and says whether it has to be quoted: it holds a delimiter, quote, LF or CR. Reads and writes up to 32 bytes more than
/// `length` on both sides.
static inline __attribute__((always_inline)) bool ohana_csv_copy_cell(
    uint8_t *target, const uint8_t *source, size_t length, uint8_t delimiter, uint8_t quote) {
  return ohana_scan_text(target, source, length, false, delimiter, quote);
}

/// Whether a cell has to be quoted, as `ohana_csv_copy_cell`.
static inline __attribute__((always_inline)) bool ohana_csv_needs_quotes(
    const uint8_t *source, size_t length, uint8_t delimiter, uint8_t quote) {
  return ohana_scan_text(NULL, source, length, false, delimiter, quote);
}

/// Copies text and says whether it needs escapes within a JSON string (RFC 8259 section 7): it holds a quote, a backslash or a control
/// character. Reads and writes up to 32 bytes more than `length` on both sides.
static inline __attribute__((always_inline)) bool ohana_json_copy_text(uint8_t *target, const uint8_t *source, size_t length) {
  return ohana_scan_text(target, source, length, true, 0, 0);
}

#ifdef __cplusplus
}
#endif
