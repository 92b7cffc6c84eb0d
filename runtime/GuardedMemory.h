//===- GuardedMemory.h - blocks that end at an unmapped page ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// For tests: with TILEWRIGHT_GUARD_MEMORY=1 in the environment every block of
// the runtime (inputs, outputs, each value of an arena, constants, scratch
// memory) ends exactly where a page begins that nobody may touch, and holds
// ones (a NaN) until it is written. A kernel that reads or writes one element
// too many, or reads what nobody wrote, does not get away with it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace tilewright {

/// \returns true if the environment asks for guarded blocks.
bool guardsMemory();

/// \returns a guarded block of exactly `bytes` bytes, null if there is none to
/// be had. Its end is aligned to a page, so its start to what divides `bytes`.
char *allocateGuarded(int64_t bytes);

/// Frees what allocateGuarded gave; null is fine.
void freeGuarded(void *block);

} // namespace tilewright
