//===- DroppedTiles.h - tiles that turned out not to fit --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Whether a GPU's registers hold a tile is known when its kernel is compiled.
// The tile that spills is then dropped from those that the region may have,
// and the region's tactic chooses again.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/DecisionLog.h"
#include "passes/tile/Tactic.h"

namespace tilewright {

/// Whether `region` must not have the tile that `parameters` describe.
bool isDropped(tw::FusedOp region, mlir::DictionaryAttr parameters);

/// Drops the tile of `region`, whose kernel spills `spilledBytes` of each
/// thread, and lets its tactic choose among the others. Where there is none,
/// the region has its first tile for good. The log says which it is: TWT010 or
/// TWT011. \returns whether the region has another tile now.
Result<bool> dropTile(tw::FusedOp region, const TargetSpec &target,
                      const TacticRegistry &registry, uint32_t spilledBytes,
                      DecisionLog &log);

} // namespace tilewright
