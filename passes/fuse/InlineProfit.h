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
const Reason *inlineProfit(const InlineCandidate &candidate);

} // namespace tilewright
