// libphonenumber behind a C interface, with a fast path for the usual spellings that answers as the library does.
#ifndef OHANA_PHONENUMBER_H
#define OHANA_PHONENUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A region that numbers without a country code belong to. The library and its metadata are loaded by the first call that needs them.
typedef struct ohana_phone_region ohana_phone_region;

/// The region of two capital letters, NULL for one that the library does not know. Any thread; lives for ever.
const ohana_phone_region *ohana_phone_region_of(uint8_t first, uint8_t second);

/// What tells one release's metadata from another's: a checksum, 16 hexadecimal digits.
const char *ohana_phone_metadata_version(void);

enum {
  /// Room that every answer fits in.
  OHANA_PHONE_CAPACITY = 128
};

/// What the library makes of a text.
typedef enum ohana_phone_form {
  /// `+` and digits. With an extension `;ext=` and its digits.
  OHANA_PHONE_E164 = 0,
  OHANA_PHONE_INTERNATIONAL = 1,
  OHANA_PHONE_NATIONAL = 2,
  OHANA_PHONE_RFC3966 = 3,
  /// Two letters of the region the number belongs to.
  OHANA_PHONE_COUNTRY = 4
} ohana_phone_form;

/// Remembers answers of the library. One thread at a time.
typedef struct ohana_phone_memo ohana_phone_memo;
ohana_phone_memo *ohana_phone_memo_create(void);
void ohana_phone_memo_destroy(ohana_phone_memo *memo);

/// Writes `form` of the number in `text` to `out`, and returns its length; 0 if it is no number.
///
/// - region: NULL if numbers without a country code are no numbers.
/// - possible: a number that is not possible, or possible only locally, counts as none.
/// - memo: may be NULL.
/// - out: OHANA_PHONE_CAPACITY bytes.
size_t ohana_phone_format(
    const ohana_phone_region *region, const uint8_t *text, size_t count, ohana_phone_form form, bool possible,
    ohana_phone_memo *memo, uint8_t *out);

/// The same by the library alone.
size_t ohana_phone_format_by_library(
    const ohana_phone_region *region, const uint8_t *text, size_t count, ohana_phone_form form, bool possible, uint8_t *out);

/// E.164 of a possible number by the fast path alone: its length, 0 if the text is no possible number, -1 if only the library can tell.
int ohana_phone_fast_e164(const ohana_phone_region *region, const uint8_t *text, size_t count, uint8_t *out);

/// An example number in E.164 of the `index`-th region, for tests; 0 behind the last one. `code` gets three bytes.
size_t ohana_phone_example(size_t index, int type, char *code, uint8_t *out);

#ifdef __cplusplus
}
#endif
#endif
