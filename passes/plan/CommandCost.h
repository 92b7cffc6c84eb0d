//===- CommandCost.h - about how long commands take on a GPU ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/plan/PlanBuilder.h"
#include "targets/GpuSpec.h"

namespace tilewright::plan {

struct CommandEstimate {
  double microseconds = 0;
  double loadBytes = 0, storeBytes = 0; ///< of a launch; GpuWork
};

/// Estimates each command of function `number` of a plan: the time to start it,
/// and the longest of what its operands take through the memory, its tiles
/// through the second cache and its steps through the arithmetic units (the
/// roofline model). Sizes that are not known yet count as 128.
std::vector<CommandEstimate>
estimateCommands(const BuiltPlan &built, uint32_t number, const GpuSpec &gpu);

/// Puts the commands of every function on streams (Streams.h) by these
/// estimates, and keeps the estimates in the commands.
void scheduleOnStreams(BuiltPlan &built, const GpuSpec &gpu);

} // namespace tilewright::plan
