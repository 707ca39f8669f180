#pragma once
#include <xxhash.h>

/// Asks for the cache line at `address` ahead of its use, so that the probes of a hash table wait for memory together.
static inline void ohana_prefetch(const void *address) { __builtin_prefetch(address); }
