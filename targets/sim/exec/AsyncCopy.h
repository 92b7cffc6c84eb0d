//===- AsyncCopy.h - copies that have not landed ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/exec/Machine.h"

#include <vector>

namespace tilewright::sim {

/// One cp.async of a warp.
struct PendingCopy {
  const Inst *inst = nullptr;
  /// Lanes whose bytes have not landed.
  uint32_t mask = 0;
  uint32_t bytes = 0;
  /// Per lane: place in shared memory, group, and the bytes.
  uint64_t address[lanesPerWarp];
  uint32_t group[lanesPerWarp];
  uint8_t data[lanesPerWarp * 16];
};

struct AsyncCopies {
  std::vector<PendingCopy> pending;
  /// Groups that each lane has committed.
  uint32_t committed[lanesPerWarp] = {};
};

} // namespace tilewright::sim
