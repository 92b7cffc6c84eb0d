//===- Arena.h - placing buffers in one block of memory ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The one arena planner: the executor calls it for each new combination of
// sizes, the compiler calls it to say how much memory a model takes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// A buffer that is alive from command `first` to command `last`, both
/// included.
struct ArenaBuffer {
  int64_t bytes = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

struct ArenaLayout {
  std::vector<int64_t> offsets; ///< one per buffer, multiples of 64
  int64_t bytes = 0;            ///< of the whole arena
};

/// Places the buffers so that no two that are alive at the same time overlap:
/// the largest first, each into the smallest gap that it fits.
/// Errors: OutOfMemory when the sum overflows, Internal for a negative size.
Result<ArenaLayout> planArena(const std::vector<ArenaBuffer> &buffers);

} // namespace tilewright
