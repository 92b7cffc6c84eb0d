//===- Staging.cpp - memory between the processor and a GPU ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/Staging.h"

#include "runtime/Memory.h"

#include <algorithm>

using namespace tilewright;

// Locking pages is slow, so that chunks are not small, and grow up to a limit.
static constexpr int64_t leastChunk = int64_t(1) << 20;
static constexpr int64_t largestChunk = int64_t(32) << 20;

Staging::~Staging() {
  if (gpu && gpu->makeCurrent().isOk()) {
    for (Chunk &chunk : chunks) {
      gpu->driver.memFreeHost(chunk.data);
    }
  }
}

Result<char *> Staging::take(int64_t bytes) {
  int64_t needed = std::max(alignUp(bytes), memoryAlignment);
  while (current < chunks.size() && chunks[current].bytes - position < needed) {
    ++current;
    position = 0;
  }
  if (current == chunks.size()) {
    int64_t grown = chunks.empty() ? leastChunk : chunks.back().bytes * 2;
    int64_t size = std::max(needed, std::min(grown, largestChunk));
    void *data = nullptr;
    if (gpu->driver.memAllocHost(&data, static_cast<size_t>(size)) !=
        CUDA_SUCCESS) {
      return Status(ErrorCode::OutOfMemory,
                    "there is not enough page-locked memory to copy " +
                        std::to_string(bytes) + " bytes to or from the GPU");
    }
    chunks.push_back({static_cast<char *>(data), size});
    position = 0;
  }
  char *result = chunks[current].data + position;
  position += needed;
  taken += needed;
  return result;
}

void Staging::reset() {
  current = 0;
  position = 0;
  taken = 0;
}
