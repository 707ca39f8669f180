#pragma once
// Collation keys and the comparison they stand for.
#include <stdbool.h>
#include <stdint.h>

/// A collator; may be used by many threads at once.
typedef struct OhanaCollator OhanaCollator;

/// A collator for a BCP 47 tag ("sv", "de-u-co-phonebk"); "", "und" and "root" are CLDR root. NULL where ICU has no data for the
/// language or the collation variant: it would fall back to root without a word. Text need not be normalized.
OhanaCollator *ohana_icu_collator_open(const char *tag, bool numeric);
void ohana_icu_collator_close(OhanaCollator *collator);

/// Writes the sort key, its final zero byte included, if it fits; returns its length either way, 0 on failure.
int32_t ohana_icu_sort_key(const OhanaCollator *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t capacity);

/// ICU's own comparison of two UTF-8 texts, -1, 0 or 1: what the keys are tested against.
int32_t ohana_icu_compare_utf8(const OhanaCollator *collator, const char *a, int32_t length_a, const char *b, int32_t length_b);
