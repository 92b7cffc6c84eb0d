//===- Traffic.h - what an access costs a GPU ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/exec/Access.h"

namespace tilewright::sim {

/// Adds a global access to the worker's counters.
void countGlobal(Warp &warp, const Access &access);
/// Adds a shared access, with the passes that bank conflicts cost.
void countShared(Warp &warp, const Access &access);
/// Whether every address is a multiple of the access's size; reports if not.
bool isAligned(Warp &warp, const Inst &inst, const Access &access,
               const char *space);

} // namespace tilewright::sim
