#pragma once
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
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

#ifdef __linux__
// mremap(2): the system's header shows it only to files that ask for all extensions, which changes other types of it.
extern void *mremap(void *old, size_t old_size, size_t size, int flags, ...);
enum { ohana_remap_may_move = 1 };
#endif

/// Gives fresh memory its pages at once, where the system can: a fifth cheaper than a fault for each. `start` and `size` need no alignment.
static inline void ohana_populate(void *start, size_t size) {
#ifdef MADV_POPULATE_WRITE
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t first = ((size_t)start + page - 1) & ~(page - 1), end = ((size_t)start + size) & ~(page - 1);
  if (first < end) madvise((void *)first, end - first, MADV_POPULATE_WRITE);
#endif
}

/// Makes an anonymous mapping longer: what is new is zero. On Linux pages move without being copied, so that old and new are never there
/// together. Returns where it is from now on, NULL with errno set if it stays as it was.
static inline void *ohana_extend_mapping(void *old, size_t old_size, size_t size) {
#ifdef __linux__
  void *moved = mremap(old, old_size, size, ohana_remap_may_move);
  return moved == MAP_FAILED ? NULL : moved;
#else
  void *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (made == MAP_FAILED) return NULL;
  memcpy(made, old, old_size);
  munmap(old, old_size);
  return made;
#endif
}
