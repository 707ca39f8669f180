#include "structural.h"

typedef struct {
  uint64_t quote, delimiter, lf, cr, escape;
} masks;

// MARK: Scalar

static inline uint64_t prefix_xor_shifts(uint64_t x) {
  x ^= x << 1;
  x ^= x << 2;
  x ^= x << 4;
  x ^= x << 8;
  x ^= x << 16;
  x ^= x << 32;
  return x;
}

static inline uint64_t equal_bytes(const uint8_t *text, uint8_t byte) {
  uint64_t mask = 0;
  for (int word = 0; word < 8; word++) {
    uint64_t bytes;
    memcpy(&bytes, text + word * 8, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    uint64_t x = bytes ^ (0x0101010101010101u * byte);
    // 0x80 in each zero byte, exactly (no carry from one byte into the next), then the eight bits side by side.
    uint64_t zero = ~(((x & 0x7f7f7f7f7f7f7f7fu) + 0x7f7f7f7f7f7f7f7fu) | x | 0x7f7f7f7f7f7f7f7fu);
    mask |= ((zero >> 7) * 0x0102040810204080u >> 56) << (word * 8);
  }
  return mask;
}

#define KERNEL(name) name##_scalar
#define LOAD_MASKS(p, b, m) \
  m.quote = equal_bytes(p, b.quote), m.delimiter = equal_bytes(p, b.delimiter), m.lf = equal_bytes(p, '\n'), \
  m.cr = equal_bytes(p, '\r'), m.escape = b.has_escape ? equal_bytes(p, b.escape) : 0
#define PREFIX_XOR(x) prefix_xor_shifts(x)
#include "csv_kernel.h"
#undef KERNEL
#undef LOAD_MASKS
#undef PREFIX_XOR

#if defined(__x86_64__)
#include <immintrin.h>

// MARK: AVX2

#pragma clang attribute push(__attribute__((target("avx2,pclmul,bmi,bmi2,popcnt,lzcnt"))), apply_to = function)

static inline uint64_t equal_avx2(__m256i low, __m256i high, uint8_t byte) {
  __m256i wanted = _mm256_set1_epi8((char)byte);
  uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
  uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
  return (uint64_t)b << 32 | a;
}

static inline uint64_t prefix_xor_clmul(uint64_t x) {
  // Multiplying without carries by all ones adds up (xor) every lower bit.
  return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)x), _mm_set1_epi8((char)0xff), 0));
}

#define KERNEL(name) name##_avx2
#define LOAD_MASKS(p, b, m) \
  __m256i low = _mm256_loadu_si256((const __m256i *)(p)), high = _mm256_loadu_si256((const __m256i *)((p) + 32)); \
  m.quote = equal_avx2(low, high, b.quote), m.delimiter = equal_avx2(low, high, b.delimiter), m.lf = equal_avx2(low, high, '\n'), \
  m.cr = equal_avx2(low, high, '\r'), m.escape = equal_avx2(low, high, b.escape)
#define PREFIX_XOR(x) prefix_xor_clmul(x)
#include "csv_kernel.h"
#undef KERNEL
#undef LOAD_MASKS
#undef PREFIX_XOR

#pragma clang attribute pop

// MARK: AVX-512

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,pclmul,bmi,bmi2,popcnt,lzcnt"))), apply_to = function)

static inline uint64_t prefix_xor_clmul512(uint64_t x) {
  return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)x), _mm_set1_epi8((char)0xff), 0));
}
static inline uint64_t equal_avx512(__m512i block, uint8_t byte) {
  return (uint64_t)_mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8((char)byte));
}

#define KERNEL(name) name##_avx512
#define LOAD_MASKS(p, b, m) \
  __m512i block = _mm512_loadu_si512((const void *)(p)); \
  m.quote = equal_avx512(block, b.quote), m.delimiter = equal_avx512(block, b.delimiter), m.lf = equal_avx512(block, '\n'), \
  m.cr = equal_avx512(block, '\r'), m.escape = equal_avx512(block, b.escape)
#define PREFIX_XOR(x) prefix_xor_clmul512(x)
#include "csv_kernel.h"
#undef KERNEL
#undef LOAD_MASKS
#undef PREFIX_XOR

#pragma clang attribute pop

#elif defined(__aarch64__)
#include <arm_neon.h>

// MARK: NEON

static inline uint64_t equal_neon(uint8x16x4_t block, uint8_t byte) {
  const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t wanted = vdupq_n_u8(byte);
  uint8x16_t a = vandq_u8(vceqq_u8(block.val[0], wanted), bits), b = vandq_u8(vceqq_u8(block.val[1], wanted), bits);
  uint8x16_t c = vandq_u8(vceqq_u8(block.val[2], wanted), bits), d = vandq_u8(vceqq_u8(block.val[3], wanted), bits);
  uint8x16_t sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
}

static inline uint8x16x4_t load_neon(const uint8_t *p) {
  uint8x16x4_t block = {{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
  return block;
}

// Carry-less multiply (PMULL) is an option of the architecture; the shifts cost little beside the masks.
#define KERNEL(name) name##_neon
#define LOAD_MASKS(p, b, m) \
  uint8x16x4_t block = load_neon(p); \
  m.quote = equal_neon(block, b.quote), m.delimiter = equal_neon(block, b.delimiter), m.lf = equal_neon(block, '\n'), \
  m.cr = equal_neon(block, '\r'), m.escape = equal_neon(block, b.escape)
#define PREFIX_XOR(x) prefix_xor_shifts(x)
#include "csv_kernel.h"
#undef KERNEL
#undef LOAD_MASKS
#undef PREFIX_XOR
#endif

// MARK: Choice

bool ohana_kernel_runs(ohana_kernel kernel) {
  switch (kernel) {
    case OHANA_KERNEL_SCALAR: return true;
#if defined(__x86_64__)
    case OHANA_KERNEL_AVX2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("bmi2");
    case OHANA_KERNEL_AVX512:
      return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("pclmul") &&
             __builtin_cpu_supports("bmi2");
#elif defined(__aarch64__)
    case OHANA_KERNEL_NEON: return true;
#endif
    default: return false;
  }
}

ohana_kernel ohana_kernel_best(void) {
  if (ohana_kernel_runs(OHANA_KERNEL_AVX512)) return OHANA_KERNEL_AVX512;
  if (ohana_kernel_runs(OHANA_KERNEL_AVX2)) return OHANA_KERNEL_AVX2;
  if (ohana_kernel_runs(OHANA_KERNEL_NEON)) return OHANA_KERNEL_NEON;
  return OHANA_KERNEL_SCALAR;
}

void ohana_csv_find_frame(ohana_kernel kernel, const uint8_t *text, size_t length, ohana_csv_bytes bytes, ohana_csv_frame *frame) {
  switch (kernel) {
#if defined(__x86_64__)
    case OHANA_KERNEL_AVX512: find_frame_avx512(text, length, bytes, frame); return;
    case OHANA_KERNEL_AVX2: find_frame_avx2(text, length, bytes, frame); return;
#elif defined(__aarch64__)
    case OHANA_KERNEL_NEON: find_frame_neon(text, length, bytes, frame); return;
#endif
    default: find_frame_scalar(text, length, bytes, frame);
  }
}

void ohana_csv_make_index(
    ohana_kernel kernel, const uint8_t *text, size_t length, ohana_csv_bytes bytes, uint32_t *cells, size_t cell_capacity,
    ohana_csv_record *records, size_t record_capacity, ohana_csv_index *index) {
  switch (kernel) {
#if defined(__x86_64__)
    case OHANA_KERNEL_AVX512:
      make_index_avx512(text, length, bytes, cells, cell_capacity, records, record_capacity, index);
      return;
    case OHANA_KERNEL_AVX2: make_index_avx2(text, length, bytes, cells, cell_capacity, records, record_capacity, index); return;
#elif defined(__aarch64__)
    case OHANA_KERNEL_NEON: make_index_neon(text, length, bytes, cells, cell_capacity, records, record_capacity, index); return;
#endif
    default: make_index_scalar(text, length, bytes, cells, cell_capacity, records, record_capacity, index);
  }
}
