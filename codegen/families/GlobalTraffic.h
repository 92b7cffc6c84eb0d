//===- GlobalTraffic.h - what a GPU's kernel reads and writes ---*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Bytes that the multiprocessors exchange with the memory system: operands once
// for each tile that needs them, whatever a cache would keep. A test holds them
// against the simulator's counters (test/e2e/gpu_traffic.py).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/DimExpr.h"
#include "ir/TwOps.h"

namespace tilewright::families {

struct GlobalTraffic {
  tw::DimExpr loads, stores; ///< bytes
};

/// \returns the traffic of `op`'s kernel under the tactic for GPUs that its
/// attribute names. \pre analyseRegion accepts `op`.
GlobalTraffic globalTrafficOf(tw::FusedOp op);

} // namespace tilewright::families
