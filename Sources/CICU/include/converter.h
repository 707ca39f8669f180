#pragma once
#include <stdint.h>

/// Converts text of some encoding to UTF-8, piece by piece. One thread at a time.
typedef struct ohana_icu_converter ohana_icu_converter;

/// NULL if there is no encoding of that name.
ohana_icu_converter *ohana_icu_converter_open(const char *name);
void ohana_icu_converter_close(ohana_icu_converter *converter);

enum {
  ohana_icu_converted = 0,    // all of the source is taken
  ohana_icu_target_full = 1,  // call again with more room
  ohana_icu_invalid = 2,      // a sequence that stands for nothing was passed over; call again for the rest
  ohana_icu_failed = -1,
};

/// Takes bytes from `*source` and puts UTF-8 at `*target`; both move on. `flush` is not 0 with the last piece.
int ohana_icu_convert(
  ohana_icu_converter *converter, const char **source, const char *source_end, char **target, const char *target_end, int flush);
