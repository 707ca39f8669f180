#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// RE2 for C: time linear in the text, memory bounded per expression. A compiled expression may be used by many threads at once.

typedef struct ohana_regex ohana_regex;

typedef struct {
  bool ignores_case;
  /// A dot also matches a line feed.
  bool dot_matches_newline;
  /// `^` and `$` match at line feeds.
  bool multiline;
  /// The pattern is text, not an expression.
  bool literal;
} ohana_regex_options;

/// NULL if the pattern is wrong: then `error` holds what is wrong, ended by NUL, cut to `capacity` bytes.
ohana_regex *ohana_regex_compile(const char *pattern, size_t count, ohana_regex_options options, char *error, size_t capacity);
void ohana_regex_free(ohana_regex *regex);

/// Capturing groups, the whole match not counted.
int ohana_regex_group_count(const ohana_regex *regex);

/// Looks for the first match in `text[start..<count]`; look-around sees the text before `start`.
///
/// `groups` receives `group_count` pairs of start and end offsets in `text`, the whole match first; -1 where a group took no part.
bool ohana_regex_find(const ohana_regex *regex, const char *text, size_t count, size_t start, ptrdiff_t *groups, int group_count);

/// Whether all of `text` matches.
bool ohana_regex_matches_whole(const ohana_regex *regex, const char *text, size_t count);

/// First place of `part`, which is not empty, in `text`: an offset, or -1. Time linear in both.
ptrdiff_t ohana_find_literal(const uint8_t *text, size_t count, const uint8_t *part, size_t part_count);

#ifdef __cplusplus
}
#endif
