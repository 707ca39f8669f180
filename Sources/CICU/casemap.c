#include "casemap.h"
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

static int32_t ohana_icu_result(int32_t length, UErrorCode status) {
  return status == U_BUFFER_OVERFLOW_ERROR || U_SUCCESS(status) ? length : -1;
}

int32_t ohana_icu_from_utf8(const char *bytes, int32_t count, uint16_t *out, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  int32_t length = 0;
  u_strFromUTF8WithSub((UChar *)out, capacity, &length, bytes, count, 0xfffd, NULL, &status);
  return ohana_icu_result(length, status);
}

static int32_t ohana_icu_normalized(
  const UNormalizer2 *form, const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity, UErrorCode status) {
  if (U_FAILURE(status)) return -1;
  int32_t length = unorm2_normalize(form, (const UChar *)text, count, (UChar *)out, capacity, &status);
  return ohana_icu_result(length, status);
}

int32_t ohana_icu_nfc(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2 *form = unorm2_getNFCInstance(&status);
  return ohana_icu_normalized(form, text, count, out, capacity, status);
}

int32_t ohana_icu_nfd(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2 *form = unorm2_getNFDInstance(&status);
  return ohana_icu_normalized(form, text, count, out, capacity, status);
}

int32_t ohana_icu_nfkc(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2 *form = unorm2_getNFKCInstance(&status);
  return ohana_icu_normalized(form, text, count, out, capacity, status);
}

int32_t ohana_icu_nfkc_casefold(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2 *form = unorm2_getNFKCCasefoldInstance(&status);
  return ohana_icu_normalized(form, text, count, out, capacity, status);
}

int32_t ohana_icu_lower(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  int32_t length = u_strToLower((UChar *)out, capacity, (const UChar *)text, count, "", &status);
  return ohana_icu_result(length, status);
}

int32_t ohana_icu_upper(const uint16_t *text, int32_t count, uint16_t *out, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  int32_t length = u_strToUpper((UChar *)out, capacity, (const UChar *)text, count, "", &status);
  return ohana_icu_result(length, status);
}

ohana_icu_class ohana_icu_classify(uint32_t scalar) {
  switch (u_charType((UChar32)scalar)) {
    case U_ENCLOSING_MARK: return OHANA_ICU_ENCLOSING_MARK;
    case U_DASH_PUNCTUATION:
    case U_CONNECTOR_PUNCTUATION: return OHANA_ICU_DASH_OR_CONNECTOR;
    case U_START_PUNCTUATION:
    case U_END_PUNCTUATION:
    case U_INITIAL_PUNCTUATION:
    case U_FINAL_PUNCTUATION:
    case U_OTHER_PUNCTUATION: return OHANA_ICU_PUNCTUATION;
    case U_SPACE_SEPARATOR: return OHANA_ICU_SPACE;
    default: return OHANA_ICU_OTHER;
  }
}

uint8_t ohana_icu_combining_class(uint32_t scalar) { return u_getCombiningClass((UChar32)scalar); }

int ohana_icu_is_white_space(uint32_t scalar) { return u_isUWhiteSpace((UChar32)scalar); }

uint32_t ohana_icu_simple_lower(uint32_t scalar) { return (uint32_t)u_tolower((UChar32)scalar); }

uint32_t ohana_icu_simple_title(uint32_t scalar) { return (uint32_t)u_totitle((UChar32)scalar); }

int ohana_icu_is_word(uint32_t scalar) { return u_isalnum((UChar32)scalar) || (U_GET_GC_MASK((UChar32)scalar) & U_GC_M_MASK); }

const char *ohana_icu_version(void) { return U_ICU_VERSION; }
