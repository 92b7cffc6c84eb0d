//===- Memory.cpp - aligned memory ----------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/Memory.h"

#include "runtime/ControlGroup.h"
#include "runtime/GuardedMemory.h"

#include <algorithm>
#include <cstdio>

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

void tilewright::freeMemory(void *memory) {
  guardsMemory() ? freeGuarded(memory) : std::free(memory);
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
    block.memory = static_cast<char *>(
        std::aligned_alloc(memoryAlignment, static_cast<size_t>(rounded)));
    block.size = rounded;
  }
  if (!block.memory) {
    return Status(ErrorCode::OutOfMemory,
                  "there is not enough memory for " + std::to_string(bytes) +
                      " bytes; smaller inputs or another machine may help");
  }
  return block;
}
