//===- JoinProfit.h - when contractions should share a kernel ---*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/ReasonCodes.h"
#include <functional>

namespace tilewright {

/// Two groups of primitives, each with contractions, that would be one region.
struct JoinCandidate {
  llvm::ArrayRef<mlir::Operation *> earlier, later;
};

/// \returns null if joining pays off, else the reason why not.
using JoinProfit = std::function<const Reason *(const JoinCandidate &)>;

/// The default, for cores with a second cache of `cacheBytes`. Contractions
/// join where what one group reads of the other never goes to memory, and one
/// register tile suits all. Rows join the contractions that they read where
/// there are many blocks of rows, and the cache holds a block and the weights.
JoinProfit joinProfit(int64_t cacheBytes);

/// For GPUs, whose kernels compute one contraction: nothing joins.
const Reason *joinNothing(const JoinCandidate &candidate);

/// What schedules count on where nobody says what the machine has.
constexpr int64_t usualCacheBytes = 1 << 20;

} // namespace tilewright
