//===- BlockPool.h - memory of values with unforeseen sizes -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Memory.h"

#include <vector>

namespace tilewright {

/// Keeps blocks that are given back for the next value of about that size.
class BlockPool {
public:
  /// \returns a block of at least `bytes` bytes. Error: OutOfMemory.
  Result<Block> take(int64_t bytes);

  /// Gives a block back; an empty one is fine.
  void give(Block &&block);

  /// A taken block has left for good.
  void forget(int64_t capacity) { liveBytes -= capacity; }

  /// \returns the bytes of all blocks, in use or not.
  int64_t bytes() const { return liveBytes + freeBytes; }

private:
  std::vector<Block> free; // by capacity, ascending
  int64_t freeBytes = 0;
  int64_t liveBytes = 0;
  int64_t highestLiveBytes = 0;
};

} // namespace tilewright
