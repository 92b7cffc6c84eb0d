//===- BlockPool.h - memory of values with unforeseen sizes -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/exec/Device.h"

#include <vector>

namespace tilewright {

/// Keeps blocks that are given back for the next value of about that size.
class BlockPool {
public:
  /// The device gives the memory and outlives the pool.
  explicit BlockPool(Device &device) : device(device) {}

  /// \returns a block of at least `bytes` bytes for a value that a message may
  /// call `label`. Errors: OutOfMemory, DeviceMemory.
  Result<Block> take(int64_t bytes, std::string_view label = {});

  /// Gives a block back; an empty one is fine.
  void give(Block &&block);

  /// Nothing is under way on the device: blocks that came back may be used on
  /// any stream.
  void settle();

  /// A taken block has left for good.
  void forget(int64_t capacity) { liveBytes -= capacity; }

  /// \returns the bytes of all blocks, in use or not.
  int64_t bytes() const { return liveBytes + freeBytes; }

private:
  struct FreeBlock {
    Block block;
    uint32_t stream; // that may still be using it
  };
  static bool smaller(const FreeBlock &free, int64_t bytes);

  Device &device;
  std::vector<FreeBlock> free; // by capacity, ascending
  int64_t freeBytes = 0;
  int64_t liveBytes = 0;
  int64_t highestLiveBytes = 0;
};

} // namespace tilewright
