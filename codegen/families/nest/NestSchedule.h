//===- NestSchedule.h - tile parameters by cost -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The model counts cycles of one core per useful scalar step: multiply-adds,
// loads and stores by the way they move, lanes that tails waste. It ranks the
// tiles that fit the registers; it does not predict time.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/nest/Nest.h"

namespace tilewright::families {

/// The shapes of nest that a tactic may choose among.
enum class NestShape {
  Pointwise,     ///< lanes along an axis of the maps
  Contract,      ///< a register tile for a sum of products
  ReduceRows,    ///< lanes along the innermost reduction axis
  ReduceColumns, ///< lanes along a parallel axis
};

struct NestChoice {
  NestParameters parameters;
  double cost; ///< cycles per scalar step
};

/// \returns an extent; where only run time knows it, what schedules count on.
int64_t guessedExtent(tw::DimExpr extent, bool isBatch);

/// \returns why no nest of this shape can do the region.
std::optional<Refusal> refuseNest(const FusedRegion &region, NestShape shape,
                                  const TargetSpec &target);

/// \returns the cheapest nest of this shape, nullopt if there is none.
std::optional<NestChoice> chooseNest(const FusedRegion &region, NestShape shape,
                                     const TargetSpec &target);

/// \returns the lanes for a row region.
int64_t rowWidth(const FusedRegion &region, const TargetSpec &target);

} // namespace tilewright::families
