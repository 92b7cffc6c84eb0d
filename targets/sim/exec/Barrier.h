//===- Barrier.h - barriers of a block -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/exec/Machine.h"

namespace tilewright::sim {

/// Begins the next stretch between barriers for the detection of races.
void beginSharedEpoch(Block &block);

/// Lets warps go whose barriers are complete. \returns whether any could.
bool releaseBarriers(Block &block, Warp *warps);

/// Every warp waits or has ended, and no barrier is complete: a fault, unless
/// checks are off and only threads that have left are missing.
bool resolveStuckBarriers(Block &block, Warp *warps);

} // namespace tilewright::sim
