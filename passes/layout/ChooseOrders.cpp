//===- ChooseOrders.cpp - the cheapest orders over the graph --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/layout/ChooseOrders.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// Descent over all classes stops after so many rounds.
static constexpr unsigned maxRounds = 6;
/// A change must gain this share of what it touches.
static constexpr double leastGain = 0.01;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {

/// The orders that a class may take, each once, row-major first.
class Candidates {
public:
  explicit Candidates(unsigned rank) { add(identityOrder(rank)); }

  void add(std::optional<AxisOrder> order) {
    if (order && !llvm::is_contained(orders, *order)) {
      orders.push_back(*order);
    }
  }
  ArrayRef<AxisOrder> get() const { return orders; }

private:
  SmallVector<AxisOrder> orders;
};

} // namespace

/// Sorts axes by a key; those with equal keys stay as they are.
static AxisOrder sortBy(ArrayRef<unsigned> keys) {
  AxisOrder order = identityOrder(keys.size());
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(keys[a], a) < std::pair(keys[b], b);
  });
  return order;
}

/// The order in which `node` would like its operand: as it walks it itself.
static AxisOrder wishOf(const LayoutGraph &graph, const LayoutNode &node,
                        const TensorRead &read) {
  SmallVector<unsigned> walk(graph.getClasses()[node.orderClass].order);
  for (unsigned axis = node.rank; axis < node.extents.size(); ++axis) {
    walk.push_back(axis);
  }
  SmallVector<unsigned> keys(read.extents.size(), 0);
  for (unsigned axis = 0; axis < keys.size(); ++axis) {
    for (auto [position, argument] : llvm::enumerate(walk)) {
      if (!read.slopes[argument][axis].isZero()) {
        keys[axis] = position + 1;
        break;
      }
    }
  }
  return sortBy(keys);
}

/// The order of `node` that follows its operand; none where some coordinate
/// does not reach the operand.
static std::optional<AxisOrder> echoOf(const LayoutGraph &graph,
                                       const LayoutNode &node,
                                       const TensorRead &read) {
  AxisOrder order = graph.orderOf(read.source);
  SmallVector<unsigned> keys;
  for (unsigned axis = 0; axis < node.rank; ++axis) {
    auto reached = llvm::find_if(order, [&](unsigned from) {
      return !read.slopes[axis][from].isZero();
    });
    if (reached == order.end()) {
      return std::nullopt;
    }
    keys.push_back(reached - order.begin());
  }
  return sortBy(keys);
}

/// Adds what the readers of `value` behind its reshapes want of its source;
/// `back` takes an order of `value` back there.
static void
addReshapes(const LayoutGraph &graph, Value value,
            llvm::function_ref<std::optional<AxisOrder>(AxisOrder)> back,
            Candidates &candidates) {
  for (Operation *user : value.getUsers()) {
    auto reshape = dyn_cast<ReshapeOp>(user);
    ArrayRef<ReshapeGroup> groups =
        reshape ? graph.groupsOf(reshape) : ArrayRef<ReshapeGroup>();
    if (groups.empty()) {
      continue;
    }
    unsigned rank = cast<RankedTensorType>(value.getType()).getRank();
    for (const ReshapeGroup &group : groups) {
      candidates.add(back(moveToEnd(rank, group.from)));
    }
    addReshapes(
        graph, reshape,
        [&](AxisOrder order) -> std::optional<AxisOrder> {
          std::optional<AxisOrder> before = orderBeforeReshape(groups, order);
          return before ? back(*before) : std::nullopt;
        },
        candidates);
  }
}

/// What `read` wants of the primitive behind it.
static std::optional<AxisOrder> wishThroughReshapes(const LayoutGraph &graph,
                                                    const LayoutNode &node,
                                                    const TensorRead &read) {
  AxisOrder wish = wishOf(graph, node, read);
  Value value = read.source;
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    ArrayRef<ReshapeGroup> groups = graph.groupsOf(reshape);
    std::optional<AxisOrder> before =
        groups.empty() ? std::nullopt : orderBeforeReshape(groups, wish);
    if (!before) {
      return std::nullopt;
    }
    wish = *before;
    value = reshape.getSource();
  }
  return wish;
}

static SmallVector<AxisOrder> candidatesOf(const LayoutGraph &graph,
                                           unsigned number) {
  const OrderClass &own = graph.getClasses()[number];
  Candidates candidates(own.rank);
  for (unsigned axis = 0; axis < own.rank; ++axis) {
    candidates.add(moveToEnd(own.rank, {axis}));
  }
  for (unsigned member : own.nodes) {
    const LayoutNode &node = graph.getNodes()[member];
    for (const TensorRead &read : node.reads) {
      if (!read.staysInside) {
        candidates.add(echoOf(graph, node, read));
      }
    }
    for (Value result : node.op->getResults()) {
      addReshapes(
          graph, result, [](AxisOrder order) { return std::optional(order); },
          candidates);
    }
  }
  for (unsigned reader : own.readers) {
    for (unsigned member : graph.getClasses()[reader].nodes) {
      const LayoutNode &node = graph.getNodes()[member];
      for (const TensorRead &read : node.reads) {
        if (read.sourceClass == number && !read.staysInside) {
          candidates.add(wishThroughReshapes(graph, node, read));
        }
      }
    }
  }
  return SmallVector<AxisOrder>(candidates.get());
}

//===----------------------------------------------------------------------===//
// Descent
//===----------------------------------------------------------------------===//

/// Gives a class the candidate for which `costOf` is least. \returns true if
/// that changes its order.
static bool improve(LayoutGraph &graph, unsigned number,
                    llvm::function_ref<double()> costOf) {
  OrderClass &own = graph.getClasses()[number];
  AxisOrder present = own.order, best = present;
  double least = costOf() * (1 - leastGain);
  for (const AxisOrder &candidate : candidatesOf(graph, number)) {
    if (candidate == present) {
      continue;
    }
    own.order = candidate;
    if (double cost = costOf(); cost < least) {
      least = cost;
      best = candidate;
    }
  }
  own.order = best;
  return best != present;
}

static double totalCost(const LayoutGraph &graph, const LayoutCost &cost) {
  double total = 0;
  for (unsigned number = 0; number < graph.getClasses().size(); ++number) {
    total += cost.ofClass(number);
  }
  return total;
}

/// Changes one class at a time, in program order, while that gains.
/// \returns the cost that is left.
static double descend(LayoutGraph &graph, const LayoutCost &cost) {
  bool changed = true;
  for (unsigned round = 0; changed && round < maxRounds; ++round) {
    changed = false;
    for (unsigned number = 0; number < graph.getClasses().size(); ++number) {
      const OrderClass &own = graph.getClasses()[number];
      if (own.mayMove) {
        changed |= improve(graph, number, [&] {
          double touched = 0;
          for (unsigned reader : own.readers) {
            touched += cost.ofClass(reader);
          }
          return touched;
        });
      }
    }
  }
  return totalCost(graph, cost);
}

static SmallVector<AxisOrder> ordersOf(const LayoutGraph &graph) {
  return llvm::map_to_vector(graph.getClasses(),
                             [](const OrderClass &own) { return own.order; });
}

void chooseOrders(LayoutGraph &graph, const LayoutCost &cost) {
  double fromRowMajor = descend(graph, cost);
  SmallVector<AxisOrder> kept = ordersOf(graph);
  // What each would take if its readers followed.
  for (OrderClass &own : graph.getClasses()) {
    own.order = identityOrder(own.rank);
  }
  for (unsigned number = 0; number < graph.getClasses().size(); ++number) {
    if (graph.getClasses()[number].mayMove) {
      improve(graph, number, [&] { return cost.ofClass(number); });
    }
  }
  if (descend(graph, cost) < fromRowMajor) {
    return;
  }
  for (auto [own, order] : llvm::zip(graph.getClasses(), kept)) {
    own.order = order;
  }
}

} // namespace tilewright
