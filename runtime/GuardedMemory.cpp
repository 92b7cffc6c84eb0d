//===- GuardedMemory.cpp - blocks that end at an unmapped page ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/GuardedMemory.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace tilewright;

namespace {

/// What lies before a block: where its pages begin, and how many bytes they
/// are.
struct Header {
  char *pages;
  size_t bytes;
};

} // namespace

static size_t pageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool tilewright::guardsMemory() {
  static const bool guards = [] {
    const char *value = std::getenv("TILEWRIGHT_GUARD_MEMORY");
    return value && std::strcmp(value, "1") == 0;
  }();
  return guards;
}

char *tilewright::allocateGuarded(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX / 2) {
    return nullptr;
  }
  // A page for the header, the block, the page that faults.
  size_t page = pageBytes();
  size_t size = static_cast<size_t>(bytes);
  size_t usable = page + (size + page - 1) / page * page;
  void *memory = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  char *pages = static_cast<char *>(memory);
  Header header{pages, usable + page};
  if (mprotect(pages + usable, page, PROT_NONE) != 0) {
    munmap(pages, header.bytes);
    return nullptr;
  }
  char *block = pages + usable - size;
  std::memcpy(block - sizeof header, &header, sizeof header);
  std::memset(block, 0xff, size);
  return block;
}

void tilewright::freeGuarded(void *block) {
  if (!block) {
    return;
  }
  Header header;
  std::memcpy(&header, static_cast<char *>(block) - sizeof header,
              sizeof header);
  munmap(header.pages, header.bytes);
}
