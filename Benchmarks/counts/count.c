// Counts calls of the allocator and of Swift's reference counting, for Benchmarks/counts/run.py: preloaded, it writes two numbers to the
// file named by OHANA_COUNTS when the process ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_ulong allocations, references;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

#define COUNT(counter) atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed)

void *malloc(size_t size) { return COUNT(allocations), __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return COUNT(allocations), __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return COUNT(allocations), __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return COUNT(allocations), __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
  *result = memalign(alignment, size);
  return *result ? 0 : 12;
}

#define REFERENCE(name)                                                        \
  void *name(void *object) {                                                   \
    static void *(*next)(void *);                                              \
    if (!next) next = (void *(*)(void *))dlsym(RTLD_NEXT, #name);              \
    COUNT(references);                                                         \
    return next(object);                                                       \
  }
#define REFERENCES(name)                                                       \
  void *name(void *object, unsigned count) {                                   \
    static void *(*next)(void *, unsigned);                                    \
    if (!next) next = (void *(*)(void *, unsigned))dlsym(RTLD_NEXT, #name);    \
    COUNT(references);                                                         \
    return next(object, count);                                                \
  }
// On x86-64 these are ordinary calls; on arm64 Swift gives them a convention of its own, for which this file has no stand-in.
REFERENCE(swift_retain)
REFERENCE(swift_release)
REFERENCE(swift_bridgeObjectRetain)
REFERENCE(swift_bridgeObjectRelease)
REFERENCE(swift_unknownObjectRetain)
REFERENCE(swift_unknownObjectRelease)
REFERENCES(swift_retain_n)
REFERENCES(swift_release_n)


__attribute__((destructor)) static void report(void) {
  const char *path = getenv("OHANA_COUNTS");
  if (!path) return;
  char text[64];
  int length = snprintf(text, sizeof text, "%lu %lu\n", (unsigned long)allocations, (unsigned long)references);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0 && write(file, text, (size_t)length) == length) close(file);
}
