//===- Memory.cpp - aligned memory ----------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/Memory.h"

#include "runtime/ControlGroup.h"
#include "runtime/GuardedMemory.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tilewright;

// Linux hands out more memory than it has and kills whoever touches it. So
// large requests are compared with what is there; small ones are not worth it.
static constexpr int64_t checkedFrom = int64_t(256) << 20;

static int64_t memAvailable() {
  std::FILE *file = std::fopen("/proc/meminfo", "re");
  if (!file) {
    return INT64_MAX;
  }
  char line[128];
  long long kibibytes = -1;
  while (std::fgets(line, sizeof line, file)) {
    if (std::sscanf(line, "MemAvailable: %lld kB", &kibibytes) == 1) {
      break;
    }
  }
  std::fclose(file);
  return kibibytes < 0 ? INT64_MAX : int64_t(kibibytes) * 1024;
}

int64_t tilewright::availableMemory() {
  return std::min(memAvailable(), controlGroupMemoryLeft());
}

// Not std::aligned_alloc: glibc asks itself for more than it keeps, so that a
// freed block is too small for the next one of its size, and the heap grows
// with every run. What malloc gave lies in front of the block.
static char *allocateAligned(int64_t bytes) {
  int64_t extra = memoryAlignment + int64_t(sizeof(void *));
  if (bytes > INT64_MAX - extra) {
    return nullptr;
  }
  void *whole = std::malloc(static_cast<size_t>(bytes + extra));
  if (!whole) {
    return nullptr;
  }
  uintptr_t address = reinterpret_cast<uintptr_t>(whole) + extra - 1;
  address &= ~(static_cast<uintptr_t>(memoryAlignment) - 1);
  char *memory = reinterpret_cast<char *>(address);
  std::memcpy(memory - sizeof whole, &whole, sizeof whole);
  return memory;
}

static void freeAligned(void *memory) {
  if (memory) {
    void *whole = nullptr;
    std::memcpy(&whole, static_cast<char *>(memory) - sizeof whole,
                sizeof whole);
    std::free(whole);
  }
}

void tilewright::freeMemory(void *memory) {
  guardsMemory() ? freeGuarded(memory) : freeAligned(memory);
}

Result<Block> Block::allocate(int64_t bytes) {
  int64_t rounded = alignUp(bytes);
  bool fits =
      rounded >= 0 && (rounded < checkedFrom || rounded <= availableMemory());
  Block block;
  if (fits && guardsMemory()) {
    block.memory = allocateGuarded(bytes);
    block.size = bytes;
  } else if (fits) {
    rounded = std::max(rounded, memoryAlignment);
    block.memory = allocateAligned(rounded);
    block.size = rounded;
  }
  if (!block.memory) {
    return Status(ErrorCode::OutOfMemory,
                  "there is not enough memory for " + std::to_string(bytes) +
                      " bytes; smaller inputs or another machine may help");
  }
  return block;
}
