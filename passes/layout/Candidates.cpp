//===- Candidates.cpp - the orders that a class may take ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/layout/Candidates.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

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
  SmallVector<unsigned> walk = walkOf(graph, node);
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

std::optional<AxisOrder> echoOf(const LayoutGraph &graph,
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

std::optional<AxisOrder> wishThroughReshapes(const LayoutGraph &graph,
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

/// Adds the orders that end with coordinates which a load joins into one, as
/// those of a channel in groups.
static void addJoined(const LayoutNode &node, const TensorRead &read,
                      Candidates &candidates) {
  for (unsigned axis = 0; axis < read.extents.size(); ++axis) {
    SmallVector<unsigned> joined;
    for (unsigned argument = 0; argument < node.rank; ++argument) {
      if (!read.slopes[argument][axis].isZero()) {
        joined.push_back(argument);
      }
    }
    if (joined.size() > 1) {
      candidates.add(moveToEnd(node.rank, joined));
    }
  }
}

SmallVector<AxisOrder> candidatesOf(const LayoutGraph &graph, unsigned number) {
  const OrderClass &own = graph.getClasses()[number];
  Candidates candidates(own.rank);
  for (unsigned member : own.nodes) {
    const LayoutNode &node = graph.getNodes()[member];
    for (const TensorRead &read : node.reads) {
      addJoined(node, read, candidates);
    }
    for (Value result : node.op->getResults()) {
      addReshapes(
          graph, result, [](AxisOrder order) { return std::optional(order); },
          candidates);
    }
  }
  for (unsigned axis = 0; axis < own.rank; ++axis) {
    candidates.add(moveToEnd(own.rank, {axis}));
  }
  for (unsigned reader : own.readers) {
    for (unsigned member : graph.getClasses()[reader].nodes) {
      const LayoutNode &node = graph.getNodes()[member];
      for (const TensorRead &read : node.reads) {
        if (reader == number && !read.staysInside) {
          candidates.add(echoOf(graph, node, read));
        }
        if (read.sourceClass == number && !read.staysInside) {
          candidates.add(wishThroughReshapes(graph, node, read));
        }
      }
    }
  }
  return SmallVector<AxisOrder>(candidates.get());
}

} // namespace tilewright
