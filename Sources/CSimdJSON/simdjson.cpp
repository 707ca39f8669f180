#include <simdjson.h>

#include <memory>
#include <new>
#include <string>

#include "ohana_simdjson.h"

using simdjson::error_code;
using simdjson::internal::dom_parser_implementation;

struct ohana_json_indexer {
  std::unique_ptr<dom_parser_implementation> parser;
  size_t capacity = 0;
};

extern "C" {

ohana_json_indexer *ohana_json_indexer_create(void) { return new (std::nothrow) ohana_json_indexer; }

void ohana_json_indexer_destroy(ohana_json_indexer *indexer) { delete indexer; }

ohana_json_status ohana_json_index(
    ohana_json_indexer *indexer, const uint8_t *text, size_t length, uint32_t **indexes, size_t *count) {
  *indexes = nullptr;
  *count = 0;
  if (length == 0) return OHANA_JSON_EMPTY;
  if (length > indexer->capacity) {
    error_code error;
    if (indexer->parser) {
      error = indexer->parser->set_capacity(length);
    } else {
      // The depth sizes a stack of the second stage, which never runs here.
      error = simdjson::get_active_implementation()->create_dom_parser_implementation(length, 1, indexer->parser);
    }
    if (error) return OHANA_JSON_NO_MEMORY;
    indexer->capacity = length;
  }
  const error_code error = indexer->parser->stage1(text, length, simdjson::stage1_mode::regular);
  if (error == simdjson::EMPTY) return OHANA_JSON_EMPTY;
  if (error) return OHANA_JSON_FAULTY;
  *indexes = indexer->parser->structural_indexes.get();
  *count = indexer->parser->n_structural_indexes;
  return OHANA_JSON_OK;
}

const char *ohana_json_kernel(void) {
  static const std::string name = simdjson::get_active_implementation()->name();
  return name.c_str();
}

}  // extern "C"
