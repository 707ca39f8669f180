#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // memmem
#endif
#include "regex.h"

#include <re2/re2.h>

#include <cstring>
#include <new>

namespace {
constexpr int max_groups = 100;

const RE2 *unwrap(const ohana_regex *regex) { return reinterpret_cast<const RE2 *>(regex); }
}  // namespace

extern "C" ohana_regex *ohana_regex_compile(
  const char *pattern, size_t count, ohana_regex_options options, char *error, size_t capacity) {
  RE2::Options o(RE2::Quiet);
  o.set_case_sensitive(!options.ignores_case);
  o.set_dot_nl(options.dot_matches_newline);
  o.set_literal(options.literal);
  std::string text(pattern, count);
  if (options.multiline) text = "(?m)" + text;
  RE2 *regex = new (std::nothrow) RE2(text, o);
  if (regex && regex->ok() && regex->NumberOfCapturingGroups() < max_groups) return reinterpret_cast<ohana_regex *>(regex);
  std::string message = regex ? (regex->ok() ? "too many groups" : regex->error()) : "out of memory";
  delete regex;
  if (capacity > 0) {
    size_t n = message.size() < capacity - 1 ? message.size() : capacity - 1;
    memcpy(error, message.data(), n);
    error[n] = 0;
  }
  return nullptr;
}

extern "C" void ohana_regex_free(ohana_regex *regex) { delete reinterpret_cast<RE2 *>(regex); }

extern "C" int ohana_regex_group_count(const ohana_regex *regex) { return unwrap(regex)->NumberOfCapturingGroups(); }

extern "C" bool ohana_regex_find(
  const ohana_regex *regex, const char *text, size_t count, size_t start, ptrdiff_t *groups, int group_count) {
  re2::StringPiece found[max_groups + 1];
  if (!unwrap(regex)->Match(re2::StringPiece(text, count), start, count, RE2::UNANCHORED, found, group_count)) return false;
  for (int i = 0; i < group_count; i++) {
    bool took_part = found[i].data() != nullptr;
    groups[2 * i] = took_part ? found[i].data() - text : -1;
    groups[2 * i + 1] = took_part ? found[i].data() - text + static_cast<ptrdiff_t>(found[i].size()) : -1;
  }
  return true;
}

extern "C" bool ohana_regex_matches_whole(const ohana_regex *regex, const char *text, size_t count) {
  return unwrap(regex)->Match(re2::StringPiece(text, count), 0, count, RE2::ANCHOR_BOTH, nullptr, 0);
}

extern "C" ptrdiff_t ohana_find_literal(const uint8_t *text, size_t count, const uint8_t *part, size_t part_count) {
  const void *found = memmem(text, count, part, part_count);
  return found ? static_cast<const uint8_t *>(found) - text : -1;
}
