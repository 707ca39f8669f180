#pragma once
// Collation keys, locale look-up and NFD, for the order kinds of sort keys.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ucol.h>
#include <unicode/uenum.h>
#include <unicode/uloc.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

/// A collator, or NULL where ICU has no data for the locale's language (it would fall back to root without a word) or its `co` variant.
/// `tag` is a BCP 47 tag ("de-u-co-phonebk"); "" and "und" are CLDR root. The result may be used by many threads at once.
static inline UCollator *ohana_ucol_open(const char *tag, bool numeric) {
  char locale[ULOC_FULLNAME_CAPACITY] = "";
  char language[ULOC_LANG_CAPACITY] = "";
  char variant[64] = "";
  UErrorCode status = U_ZERO_ERROR;
  if (*tag && strcmp(tag, "und") != 0 && strcmp(tag, "root") != 0) {
    int32_t parsed = 0;
    int32_t length = uloc_forLanguageTag(tag, locale, sizeof locale, &parsed, &status);
    if (U_FAILURE(status) || length >= (int32_t)sizeof locale || (size_t)parsed != strlen(tag)) return NULL;
    uloc_getLanguage(locale, language, sizeof language, &status);
    if (U_FAILURE(status)) return NULL;
    if (*language) {
      bool known = false;
      int32_t count = uloc_countAvailable();
      for (int32_t i = 0; i < count && !known; i++) {
        char other[ULOC_LANG_CAPACITY];
        UErrorCode ignored = U_ZERO_ERROR;
        uloc_getLanguage(uloc_getAvailable(i), other, sizeof other, &ignored);
        known = U_SUCCESS(ignored) && strcmp(other, language) == 0;
      }
      count = ucol_countAvailable();
      for (int32_t i = 0; i < count && !known; i++) {
        char other[ULOC_LANG_CAPACITY];
        UErrorCode ignored = U_ZERO_ERROR;
        uloc_getLanguage(ucol_getAvailable(i), other, sizeof other, &ignored);
        known = U_SUCCESS(ignored) && strcmp(other, language) == 0;
      }
      if (!known) return NULL;
    }
    if (uloc_getKeywordValue(locale, "collation", variant, sizeof variant, &status) > 0 && U_SUCCESS(status)) {
      bool known = false;
      UEnumeration *values = ucol_getKeywordValuesForLocale("collation", locale, false, &status);
      const char *value;
      while (U_SUCCESS(status) && !known && (value = uenum_next(values, NULL, &status))) known = strcmp(value, variant) == 0;
      uenum_close(values);
      if (U_FAILURE(status) || !known) return NULL;
    }
  } else {
    strcpy(locale, "root");
  }
  status = U_ZERO_ERROR;
  UCollator *collator = ucol_open(locale, &status);
  if (U_FAILURE(status)) return NULL;
  // Input is not always in FCD form; without this, marks in an unusual order sort wrong.
  ucol_setAttribute(collator, UCOL_NORMALIZATION_MODE, UCOL_ON, &status);
  if (numeric) ucol_setAttribute(collator, UCOL_NUMERIC_COLLATION, UCOL_ON, &status);
  if (U_FAILURE(status)) {
    ucol_close(collator);
    return NULL;
  }
  return collator;
}

static inline void ohana_ucol_close(UCollator *collator) { ucol_close(collator); }

/// Writes the sort key, its final zero byte included, if it fits; returns its length either way.
static inline int32_t ohana_ucol_sortKey(
    const UCollator *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t capacity) {
  return ucol_getSortKey(collator, (const UChar *)text, length, key, capacity);
}

/// ICU's own comparison, -1, 0 or 1: what the keys are tested against.
static inline int32_t ohana_ucol_compareUTF8(const UCollator *collator, const char *a, int32_t lengthA, const char *b, int32_t lengthB) {
  UErrorCode status = U_ZERO_ERROR;
  return ucol_strcollUTF8(collator, a, lengthA, b, lengthB, &status);
}

/// UTF-16 units of valid UTF-8; `units` needs room for `length` of them. Returns how many.
static inline int32_t ohana_utf16FromUTF8(const char *text, int32_t length, uint16_t *units) {
  UErrorCode status = U_ZERO_ERROR;
  int32_t count = 0;
  u_strFromUTF8WithSub((UChar *)units, length, &count, text, length, 0xfffd, NULL, &status);
  return count;
}

/// UTF-8 of UTF-16; `text` needs room for three bytes a unit. Returns how many bytes.
static inline int32_t ohana_utf8FromUTF16(const uint16_t *units, int32_t count, char *text, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  int32_t length = 0;
  u_strToUTF8WithSub(text, capacity, &length, (const UChar *)units, count, 0xfffd, NULL, &status);
  return length;
}

/// NFD of `count` units if it fits `capacity`; returns its length either way, negative on failure.
static inline int32_t ohana_nfd(const uint16_t *units, int32_t count, uint16_t *result, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2 *nfd = unorm2_getNFDInstance(&status);
  if (U_FAILURE(status)) return -1;
  int32_t length = unorm2_normalize(nfd, (const UChar *)units, count, (UChar *)result, capacity, &status);
  return status == U_BUFFER_OVERFLOW_ERROR || U_SUCCESS(status) ? length : -1;
}
