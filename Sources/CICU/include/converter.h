#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Reads one encoding, a piece of text at a time.
typedef struct ohana_icu_converter ohana_icu_converter;

/// NULL if the library knows no encoding of this name. Names are those of IANA and their aliases; case, `-` and `_` count nothing.
ohana_icu_converter *ohana_icu_converter_open(const char *name);
void ohana_icu_converter_close(ohana_icu_converter *converter);

/// Bytes of UTF-8 that `length` bytes of input become at most, whatever the encoding, those kept from before included.
static inline size_t ohana_icu_converted_bound(size_t length) { return 4 * length + 64; }

/// Bytes at the end of all input so far that are kept for the next call; -1 if what is to come depends on more of the input than those:
/// escape sequences, or a byte order mark that the encoding looks for by itself.
int32_t ohana_icu_kept(ohana_icu_converter *converter);

/// Appends `source` in UTF-8 to `target`, which must have room for `ohana_icu_converted_bound(length)` bytes, and returns how many bytes
/// that are; -1 is a failure of the library itself. A sequence that means nothing in the encoding becomes the one byte 0xff, which is not
/// UTF-8, so that whoever checks the text finds it. A sequence cut by the end of `source` is kept for the next call, unless `is_end`.
ptrdiff_t ohana_icu_convert(ohana_icu_converter *converter, const uint8_t *source, size_t length, bool is_end, uint8_t *target);
