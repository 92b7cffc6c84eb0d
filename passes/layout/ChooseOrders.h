//===- ChooseOrders.h - the cheapest orders over the graph ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/layout/LayoutCost.h"

namespace tilewright {

/// Gives every class of `graph` an order: a local optimum of the cost, the best
/// of those reached from row-major and from what each class would have for
/// itself. Deterministic.
void chooseOrders(LayoutGraph &graph, LayoutCost &cost);

} // namespace tilewright
