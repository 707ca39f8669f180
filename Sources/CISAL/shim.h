#pragma once
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <isa-l.h>

/// Sizes of the work buffers are macros with arithmetic, which Swift cannot import.
enum {
  ohana_isal_level1_buffer = ISAL_DEF_LVL1_EXTRA_LARGE,
  ohana_isal_level2_buffer = ISAL_DEF_LVL2_EXTRA_LARGE,
};

/// Bytes decoded that the last call of `isal_inflate` found no room for.
static inline const unsigned char *ohana_isal_pending(const struct inflate_state *state) {
  return state->tmp_out_buffer + state->tmp_out_processed;
}

/// Entry `index` of the table that decodes literals and lengths, 12 bits at a time.
static inline unsigned ohana_isal_literal_entry(const struct inflate_state *state, unsigned index) {
  return state->lit_huff_code.short_code_lookup[index];
}

/// Set up for one block behind another: raw deflate data, not final, flushed to a byte edge.
static inline void ohana_isal_deflate_block_init(struct isal_zstream *stream, unsigned level, unsigned char *work, unsigned work_size) {
  isal_deflate_init(stream);
  stream->level = level;
  stream->level_buf = work;
  stream->level_buf_size = work_size;
  stream->flush = FULL_FLUSH;
}
