#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Whether `text` is UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). Reads no byte beyond `length`.
bool ohana_validate_utf8(const uint8_t *text, size_t length);

#ifdef __cplusplus
}
#endif
