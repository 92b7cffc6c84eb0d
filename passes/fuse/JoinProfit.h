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

/// The default: what one group reads of the other never goes to memory, and one
/// register tile suits all contractions.
const Reason *joinProfit(const JoinCandidate &candidate);

} // namespace tilewright
