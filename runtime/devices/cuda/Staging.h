//===- Staging.h - memory between the processor and a GPU -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/Gpu.h"

#include <memory>
#include <vector>

namespace tilewright {

/// Page-locked memory of the processor, which a GPU copies from and to while
/// the processor goes on.
class Staging {
public:
  explicit Staging(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  Staging(Staging &&) = default;
  Staging &operator=(Staging &&) = delete;
  ~Staging();

  /// \returns `bytes` bytes, aligned to 64, that nobody else has until the next
  /// reset(). Error: OutOfMemory.
  Result<char *> take(int64_t bytes);

  /// Bytes taken since the last reset().
  int64_t used() const { return taken; }

  /// No copy is under way any more.
  void reset();

private:
  struct Chunk {
    char *data;
    int64_t bytes;
  };

  std::shared_ptr<const Gpu> gpu;
  std::vector<Chunk> chunks;
  size_t current = 0;
  int64_t position = 0; // in the current chunk
  int64_t taken = 0;
};

} // namespace tilewright
