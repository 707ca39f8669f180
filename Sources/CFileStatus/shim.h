#pragma once
#include <stdint.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

/// What keeps another file from taking the place of this one. Nothing, where that cannot be told.
enum ohana_obstacle { OHANA_NO_OBSTACLE, OHANA_IMMUTABLE, OHANA_MOUNTED };

/// The beginning of what statx(2) fills in. The system's header shows the call only to files that ask for all extensions, and the kernel's
/// has names that are the C library's too.
struct ohana_statx {
  uint32_t mask, block_size;
  uint64_t attributes;
  uint64_t rest[30];
};
enum { ohana_at_fdcwd = -100, ohana_at_symlink_nofollow = 0x100, ohana_attr_immutable = 0x10, ohana_attr_append = 0x20, ohana_attr_mount_root = 0x2000 };

static inline enum ohana_obstacle ohana_obstacle_of(const char *path) {
#ifdef SYS_statx
  struct ohana_statx status;
  if (syscall(SYS_statx, ohana_at_fdcwd, path, ohana_at_symlink_nofollow, 0, &status) != 0) return OHANA_NO_OBSTACLE;
  if (status.attributes & (ohana_attr_immutable | ohana_attr_append)) return OHANA_IMMUTABLE;
  if (status.attributes & ohana_attr_mount_root) return OHANA_MOUNTED;
#endif
  return OHANA_NO_OBSTACLE;
}
