#pragma once
#include <stdint.h>

// Text functions work on UTF-16 and return the length of the whole result in units: more than `capacity` means that it did not fit and
// the call has to be repeated with that much room. -1 is a failure of the library itself (its data is missing).

/// Bytes that are not UTF-8 become U+FFFD.
int32_t ohana_icu_from_utf8(const char *bytes, int32_t count, uint16_t *out, int32_t capacity);
int32_t ohana_icu_nfc(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity);
int32_t ohana_icu_nfd(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity);
int32_t ohana_icu_nfkc(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity);
/// NFKC_Casefold: compatibility forms, full case folding, without what is ignorable by default.
int32_t ohana_icu_nfkc_casefold(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity);
/// Full mappings of the root locale, whatever the process's own is.
int32_t ohana_icu_lower(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity);
int32_t ohana_icu_upper(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity);

/// What the general category of a character amounts to.
typedef enum {
  OHANA_ICU_OTHER,
  OHANA_ICU_ENCLOSING_MARK,
  /// Pd and Pc.
  OHANA_ICU_DASH_OR_CONNECTOR,
  /// Ps, Pe, Pi, Pf and Po.
  OHANA_ICU_PUNCTUATION,
  /// Zs.
  OHANA_ICU_SPACE,
} ohana_icu_class;
ohana_icu_class ohana_icu_classify(uint32_t scalar);
uint8_t ohana_icu_combining_class(uint32_t scalar);
/// The White_Space property.
int ohana_icu_is_white_space(uint32_t scalar);
/// Mappings of one character to one, without context.
uint32_t ohana_icu_simple_lower(uint32_t scalar);
uint32_t ohana_icu_simple_title(uint32_t scalar);
/// Letters, decimal digits and marks.
int ohana_icu_is_word(uint32_t scalar);
/// ICU's version, as its makers write it: "72.1".
const char *ohana_icu_version(void);
