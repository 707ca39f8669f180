#pragma once
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/// Lets all threads of the process share one heap, where the C library would give each its own: what one thread gives back another can
/// have. To be called before the second thread begins.
static inline void ohana_share_heap(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
#endif
}
