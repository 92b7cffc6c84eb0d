//===- InPlace.h - results over operands ------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"

namespace tilewright {

/// Whether every element of operand `operand` that `op` reads is read at the
/// coordinates of the element of result `result` that is computed from it, and
/// not after that is written. Both have the same dims and element size.
bool readsBeforeWrites(tw::FusedOp op, unsigned operand, unsigned result);

/// Whether that is so for some operand and some result.
bool mayWriteInPlace(tw::FusedOp op);

} // namespace tilewright
