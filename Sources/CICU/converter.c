#include "converter.h"

#include <stdlib.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

struct ohana_icu_converter {
  UConverter *converter;
  UChar high;  // first half of a pair whose second half has not come yet; 0 if there is none
};

ohana_icu_converter *ohana_icu_converter_open(const char *name) {
  UErrorCode status = U_ZERO_ERROR;
  UConverter *converter = ucnv_open(name, &status);
  if (U_FAILURE(status)) return NULL;
  ucnv_setToUCallBack(converter, UCNV_TO_U_CALLBACK_STOP, NULL, NULL, NULL, &status);
  ohana_icu_converter *made = U_SUCCESS(status) ? malloc(sizeof *made) : NULL;
  if (!made) {
    ucnv_close(converter);
    return NULL;
  }
  made->converter = converter;
  made->high = 0;
  return made;
}

void ohana_icu_converter_close(ohana_icu_converter *converter) {
  ucnv_close(converter->converter);
  free(converter);
}

/// Appends UTF-16 as UTF-8.
static uint8_t *append_units(ohana_icu_converter *converter, const UChar *unit, const UChar *end, uint8_t *out) {
  while (unit < end) {
    UChar32 scalar = *unit++;
    if (scalar < 0x80) {
      *out++ = (uint8_t)scalar;
      continue;
    }
    if (converter->high) {
      scalar = U16_GET_SUPPLEMENTARY(converter->high, scalar);
      converter->high = 0;
    } else if (U16_IS_LEAD(scalar)) {
      converter->high = (UChar)scalar;
      continue;
    }
    size_t at = 0;
    U8_APPEND_UNSAFE(out, at, scalar);
    out += at;
  }
  return out;
}

ptrdiff_t ohana_icu_convert(ohana_icu_converter *converter, const uint8_t *source, size_t length, bool is_end, uint8_t *target) {
  UChar units[2048];
  const char *next = (const char *)source, *end = next + length;
  uint8_t *out = target;
  while (true) {
    UErrorCode status = U_ZERO_ERROR;
    UChar *unit = units;
    ucnv_toUnicode(converter->converter, &unit, units + 2048, &next, end, NULL, is_end, &status);
    out = append_units(converter, units, unit, out);
    if (status == U_BUFFER_OVERFLOW_ERROR) continue;
    if (U_SUCCESS(status)) return out - target;
    if (status != U_ILLEGAL_CHAR_FOUND && status != U_INVALID_CHAR_FOUND && status != U_TRUNCATED_CHAR_FOUND &&
        status != U_ILLEGAL_ESCAPE_SEQUENCE && status != U_UNSUPPORTED_ESCAPE_SEQUENCE)
      return -1;
    converter->high = 0;
    *out++ = 0xff;
    if (status == U_TRUNCATED_CHAR_FOUND) return out - target;  // only at the end
  }
}

int32_t ohana_icu_kept(ohana_icu_converter *converter) {
  switch (ucnv_getType(converter->converter)) {
    case UCNV_SBCS:
    case UCNV_DBCS:
    case UCNV_MBCS:
    case UCNV_LATIN_1:
    case UCNV_UTF8:
    case UCNV_UTF16_BigEndian:
    case UCNV_UTF16_LittleEndian:
    case UCNV_UTF32_BigEndian:
    case UCNV_UTF32_LittleEndian:
    case UCNV_US_ASCII:
      break;
    default:
      return -1;
  }
  UErrorCode status = U_ZERO_ERROR;
  int32_t kept = ucnv_toUCountPending(converter->converter, &status);
  return U_FAILURE(status) || converter->high ? -1 : kept;
}
