//===- Candidates.h - the orders that a class may take ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/layout/LayoutGraph.h"

namespace tilewright {

/// \returns the orders to try for a class, row-major first, then plain ones
/// (axes moved to the end), then what operands and readers suggest.
llvm::SmallVector<AxisOrder> candidatesOf(const LayoutGraph &graph,
                                          unsigned number);

/// \returns the order of `node` that follows its operand; none where some
/// coordinate does not reach the operand.
std::optional<AxisOrder> echoOf(const LayoutGraph &graph,
                                const LayoutNode &node, const TensorRead &read);

/// \returns the order that `read` wants of the primitive behind it and its
/// reshapes; none where no order gives that.
std::optional<AxisOrder> wishThroughReshapes(const LayoutGraph &graph,
                                             const LayoutNode &node,
                                             const TensorRead &read);

} // namespace tilewright
