//===- BlockPool.cpp - memory of values with unforeseen sizes -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/BlockPool.h"

#include "runtime/GuardedMemory.h"

#include <algorithm>

using namespace tilewright;

// A value may lie in a block of up to twice its size, or of a page.
static constexpr int64_t page = 4096;

// Free blocks beyond what was ever in use at once, and this, go back.
static constexpr int64_t spareBytes = int64_t(16) << 20;

static bool smaller(const Block &block, int64_t bytes) {
  return block.capacity() < bytes;
}

Result<Block> BlockPool::take(int64_t bytes) {
  auto found = std::lower_bound(free.begin(), free.end(), bytes, smaller);
  Block block;
  if (found != free.end() &&
      (found->capacity() <= page || found->capacity() / 2 <= bytes)) {
    block = std::move(*found);
    free.erase(found);
    freeBytes -= block.capacity();
  } else {
    Result<Block> fresh = Block::allocate(bytes);
    if (!fresh && !free.empty()) {
      free.clear();
      freeBytes = 0;
      fresh = Block::allocate(bytes);
    }
    if (!fresh) {
      return fresh;
    }
    block = std::move(*fresh);
  }
  liveBytes += block.capacity();
  highestLiveBytes = std::max(highestLiveBytes, liveBytes);
  return block;
}

void BlockPool::give(Block &&block) {
  if (!block) {
    return;
  }
  liveBytes -= block.capacity();
  if (guardsMemory()) {
    block = Block(); // The next value has another size.
    return;
  }
  freeBytes += block.capacity();
  auto where =
      std::lower_bound(free.begin(), free.end(), block.capacity(), smaller);
  free.insert(where, std::move(block));
  while (freeBytes > highestLiveBytes + spareBytes) {
    freeBytes -= free.back().capacity();
    free.pop_back();
  }
}
