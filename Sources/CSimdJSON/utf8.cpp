#include "utf8.h"

#include <simdjson.h>

bool ohana_validate_utf8(const uint8_t *text, size_t length) {
  return simdjson::validate_utf8(reinterpret_cast<const char *>(text), length);
}
