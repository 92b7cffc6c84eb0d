//===- InlineProfit.h - when computing at the load pays off -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/ReasonCodes.h"
#include "passes/fuse/Access.h"
#include <functional>

namespace tilewright {

/// A load of a map's result that the map's body may replace.
struct InlineCandidate {
  tw::LoadOp load;
  tw::MapOp producer;
  mlir::Operation *consumer;
  BodyCost producerCost, consumerCost;
  unsigned readers; // operations that read the producer
};

/// \returns null if inlining pays off, else the reason why not.
using InlineProfit = std::function<const Reason *(const InlineCandidate &)>;

/// The default: movement always, arithmetic where it is not repeated or cheap.
/// Contractions repeat it for each tile that reads an operand's element, and
/// spare the memory traffic of a tensor.
const Reason *inlineProfit(const InlineCandidate &candidate);

/// The same for GPUs, whose blocks have larger tiles, all of them in threads.
const Reason *inlineProfitForGpu(const InlineCandidate &candidate);

} // namespace tilewright
