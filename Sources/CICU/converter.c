#include "converter.h"
#include <stdlib.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>

enum { pivot_size = 1024 };

struct ohana_icu_converter {
  UConverter *from, *to;
  UChar pivot[pivot_size];
  UChar *pivot_source, *pivot_target;
  // An invalid sequence was met, and what comes before it is still in the pivot.
  int is_invalid;
};

// Brings what is before an invalid sequence to the target.
static int finish_invalid(ohana_icu_converter *converter, char **target, const char *target_end) {
  UErrorCode status = U_ZERO_ERROR;
  const UChar *next = converter->pivot_source;
  ucnv_fromUnicode(converter->to, target, target_end, &next, converter->pivot_target, NULL, 0, &status);
  converter->pivot_source = (UChar *)next;
  if (status == U_BUFFER_OVERFLOW_ERROR) return ohana_icu_target_full;
  converter->pivot_source = converter->pivot_target = converter->pivot;
  converter->is_invalid = 0;
  return U_SUCCESS(status) ? ohana_icu_invalid : ohana_icu_failed;
}

ohana_icu_converter *ohana_icu_converter_open(const char *name) {
  UErrorCode status = U_ZERO_ERROR;
  ohana_icu_converter *converter = calloc(1, sizeof *converter);
  if (!converter) return NULL;
  converter->from = ucnv_open(name, &status);
  converter->to = ucnv_open("UTF-8", &status);
  if (U_SUCCESS(status)) ucnv_setToUCallBack(converter->from, UCNV_TO_U_CALLBACK_STOP, NULL, NULL, NULL, &status);
  converter->pivot_source = converter->pivot_target = converter->pivot;
  if (U_SUCCESS(status)) return converter;
  ohana_icu_converter_close(converter);
  return NULL;
}

void ohana_icu_converter_close(ohana_icu_converter *converter) {
  if (converter->from) ucnv_close(converter->from);
  if (converter->to) ucnv_close(converter->to);
  free(converter);
}

int ohana_icu_convert(
  ohana_icu_converter *converter, const char **source, const char *source_end, char **target, const char *target_end, int flush) {
  UErrorCode status = U_ZERO_ERROR;
  if (converter->is_invalid) return finish_invalid(converter, target, target_end);
  ucnv_convertEx(
    converter->to, converter->from, target, target_end, source, source_end, converter->pivot, &converter->pivot_source,
    &converter->pivot_target, converter->pivot + pivot_size, 0, flush != 0, &status);
  switch (status) {
    case U_BUFFER_OVERFLOW_ERROR: return ohana_icu_target_full;
    case U_INVALID_CHAR_FOUND:
    case U_ILLEGAL_CHAR_FOUND:
    case U_TRUNCATED_CHAR_FOUND: converter->is_invalid = 1; return finish_invalid(converter, target, target_end);
    default: return U_SUCCESS(status) ? ohana_icu_converted : ohana_icu_failed;
  }
}
