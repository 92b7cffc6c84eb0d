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

// On any stream.
static constexpr uint32_t everyStream = UINT32_MAX;

bool BlockPool::smaller(const FreeBlock &free, int64_t bytes) {
  return free.block.capacity() < bytes;
}

Result<Block> BlockPool::take(int64_t bytes, std::string_view label) {
  auto found = std::lower_bound(free.begin(), free.end(), bytes, smaller);
  while (found != free.end() && found->stream != everyStream &&
         found->stream != device.stream()) {
    ++found;
  }
  Block block;
  if (found != free.end() && (found->block.capacity() <= page ||
                              found->block.capacity() / 2 <= bytes)) {
    block = std::move(found->block);
    free.erase(found);
    freeBytes -= block.capacity();
  } else {
    Result<Block> fresh = device.allocate(bytes);
    if (!fresh && !free.empty()) {
      free.clear();
      freeBytes = 0;
      fresh = device.allocate(bytes);
    }
    if (!fresh) {
      return fresh;
    }
    block = std::move(*fresh);
  }
  liveBytes += block.capacity();
  highestLiveBytes = std::max(highestLiveBytes, liveBytes);
  if (device.tracksLives) {
    device.beginLife(block.data(), bytes, label);
  }
  return block;
}

void BlockPool::give(Block &&block) {
  if (!block) {
    return;
  }
  if (device.tracksLives) {
    device.endLife(block.data());
  }
  liveBytes -= block.capacity();
  if (device.isHost && guardsMemory()) {
    block = Block(); // The next value has another size.
    return;
  }
  freeBytes += block.capacity();
  auto where =
      std::lower_bound(free.begin(), free.end(), block.capacity(), smaller);
  free.insert(
      where, {std::move(block), device.isHost ? everyStream : device.stream()});
  while (freeBytes > highestLiveBytes + spareBytes) {
    freeBytes -= free.back().block.capacity();
    free.pop_back();
  }
}

void BlockPool::settle() {
  for (FreeBlock &entry : free) {
    entry.stream = everyStream;
  }
}
