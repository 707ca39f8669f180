#include "include/collation.h"

#include <string.h>
#include <unicode/ucol.h>
#include <unicode/uenum.h>
#include <unicode/uloc.h>

static bool has_language(const char *locale, const char *language) {
  char other[ULOC_LANG_CAPACITY];
  UErrorCode status = U_ZERO_ERROR;
  uloc_getLanguage(locale, other, sizeof other, &status);
  return U_SUCCESS(status) && strcmp(other, language) == 0;
}

static bool is_known_language(const char *language) {
  // Languages that sort as root does have a locale but no collation of their own.
  for (int32_t i = uloc_countAvailable(); i-- > 0;) {
    if (has_language(uloc_getAvailable(i), language)) return true;
  }
  for (int32_t i = ucol_countAvailable(); i-- > 0;) {
    if (has_language(ucol_getAvailable(i), language)) return true;
  }
  return false;
}

static bool is_known_variant(const char *locale, const char *variant) {
  UErrorCode status = U_ZERO_ERROR;
  UEnumeration *values = ucol_getKeywordValuesForLocale("collation", locale, false, &status);
  const char *value;
  bool known = false;
  while (!known && U_SUCCESS(status) && (value = uenum_next(values, NULL, &status))) known = strcmp(value, variant) == 0;
  if (values) uenum_close(values);
  return known;
}

static bool find_locale(const char *tag, char *locale, int32_t capacity) {
  char language[ULOC_LANG_CAPACITY] = "";
  char variant[64] = "";
  UErrorCode status = U_ZERO_ERROR;
  int32_t parsed = 0;
  int32_t length = uloc_forLanguageTag(tag, locale, capacity, &parsed, &status);
  if (U_FAILURE(status) || length >= capacity || (size_t)parsed != strlen(tag)) return false;
  uloc_getLanguage(locale, language, sizeof language, &status);
  if (U_FAILURE(status) || (*language && !is_known_language(language))) return false;
  int32_t variant_length = uloc_getKeywordValue(locale, "collation", variant, sizeof variant, &status);
  if (U_FAILURE(status)) return false;
  return variant_length == 0 || is_known_variant(locale, variant);
}

OhanaCollator *ohana_icu_collator_open(const char *tag, bool numeric) {
  char locale[ULOC_FULLNAME_CAPACITY] = "root";
  if (*tag && strcmp(tag, "und") != 0 && strcmp(tag, "root") != 0 && !find_locale(tag, locale, sizeof locale)) return NULL;
  UErrorCode status = U_ZERO_ERROR;
  UCollator *collator = ucol_open(locale, &status);
  if (U_FAILURE(status)) return NULL;
  // Input is not always in FCD form; without this, marks in an unusual order sort wrong.
  ucol_setAttribute(collator, UCOL_NORMALIZATION_MODE, UCOL_ON, &status);
  if (numeric) ucol_setAttribute(collator, UCOL_NUMERIC_COLLATION, UCOL_ON, &status);
  if (U_SUCCESS(status)) return (OhanaCollator *)collator;
  ucol_close(collator);
  return NULL;
}

void ohana_icu_collator_close(OhanaCollator *collator) { ucol_close((UCollator *)collator); }

int32_t ohana_icu_sort_key(const OhanaCollator *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t capacity) {
  return ucol_getSortKey((const UCollator *)collator, (const UChar *)text, length, key, capacity);
}

int32_t ohana_icu_compare_utf8(const OhanaCollator *collator, const char *a, int32_t length_a, const char *b, int32_t length_b) {
  UErrorCode status = U_ZERO_ERROR;
  return ucol_strcollUTF8((const UCollator *)collator, a, length_a, b, length_b, &status);
}
