//===- LayoutCost.cpp - what orders cost ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/layout/LayoutCost.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace tilewright {

using namespace tw;

// Cycles of one vector operation; gathers and scatters cost by the lane.
static constexpr double loadCycles = 0.55, storeCycles = 1.0,
                        gatherCycles = 0.8, scatterCycles = 1.3;
/// A launch, and the synchronisation before it.
static constexpr double launchCycles = 2000;
/// A register tile reads an operand once for about so many products …
static constexpr double tileReuse = 5;
/// … and pays this share more where it has to be transposed.
static constexpr double transposition = 0.5;
/// What it costs to walk a reduction through distant elements.
static constexpr double distantCycles = 0.15;
/// A mask for lanes that a guard tells apart.
static constexpr double maskCycles = 1.0;
/// Summing the lanes of a register up, per lane halved.
static constexpr double halvingCycles = 4;

namespace {

enum class Movement { None, Contiguous, Strided };

} // namespace

/// By how many elements a load moves through a tensor stored in `order` as an
/// argument grows; none where only run time knows.
static std::optional<double> strideOf(const TensorRead &read, unsigned argument,
                                      ArrayRef<unsigned> order) {
  double stride = 1, total = 0;
  for (unsigned axis : llvm::reverse(order)) {
    Slope slope = read.slopes[argument][axis];
    if (slope.kind != Slope::Constant) {
      return std::nullopt;
    }
    total += static_cast<double>(slope.value) * stride;
    stride *= read.extents[axis];
  }
  return total;
}

static Movement movementOf(const TensorRead &read, unsigned argument,
                           ArrayRef<unsigned> order) {
  std::optional<double> stride = strideOf(read, argument, order);
  return stride == 0   ? Movement::None
         : stride == 1 ? Movement::Contiguous
                       : Movement::Strided;
}

/// True if no axis of the tensor moves along the argument.
static bool ignores(const TensorRead &read, unsigned argument) {
  return llvm::all_of(read.slopes[argument],
                      [](Slope slope) { return slope.isZero(); });
}

static AxisOrder orderOf(const LayoutGraph &graph, const TensorRead &read) {
  return graph.orderOf(read.source);
}

/// True if a load across classes reads its tensor element by element in the
/// order in which the reader walks: what region formation asks for.
bool LayoutCost::linesUp(const LayoutNode &node, const TensorRead &read) const {
  if (!read.arguments || !read.sourceClass || node.isContraction) {
    return false;
  }
  SmallVector<unsigned> walk = walkOf(graph, node);
  AxisOrder order = orderOf(graph, read);
  return order.size() <= walk.size() &&
         llvm::all_of(llvm::enumerate(order), [&](auto axis) {
           return (*read.arguments)[axis.value()] == walk[axis.index()];
         });
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// True if a long reduction walks through distant elements.
bool LayoutCost::isDistant(const LayoutNode &node,
                           const TensorRead &read) const {
  AxisOrder order = orderOf(graph, read);
  for (unsigned axis = node.rank; axis < node.extents.size(); ++axis) {
    if (node.extents[axis] >= lanes &&
        movementOf(read, axis, order) == Movement::Strided) {
      return true;
    }
  }
  return false;
}

/// A factor of a contraction, per vector of products.
double LayoutCost::ofFactor(const LayoutNode &node, const TensorRead &read,
                            std::optional<unsigned> argument) const {
  bool isReused = false;
  for (unsigned axis = 0; axis < node.rank; ++axis) {
    isReused |= node.extents[axis] > 1 && ignores(read, axis);
  }
  double share = isReused ? 1 / tileReuse : 1;
  double cycles = share * loadCycles;
  // A constant is packed for the lanes.
  if (!argument || read.isConstant) {
    return cycles;
  }
  Movement movement = movementOf(read, *argument, orderOf(graph, read));
  // Where both factors are computed, a kernel transposes tiles as it goes.
  if (llvm::none_of(node.reads,
                    [](const TensorRead &other) { return other.isConstant; })) {
    return movement == Movement::Strided ? cycles * (1 + transposition)
                                         : cycles;
  }
  if (movement == Movement::Strided) {
    return share * lanes * gatherCycles;
  }
  return cycles + (isDistant(node, read) ? distantCycles : 0) +
         (read.guardMoves[*argument] ? share * maskCycles : 0);
}

/// A load per vector of steps, lanes along `argument`.
double LayoutCost::ofRead(const LayoutNode &node, const TensorRead &read,
                          std::optional<unsigned> argument) const {
  if (node.isContraction) {
    return ofFactor(node, read, argument);
  }
  if (read.staysInside) {
    // In a register, unless another region has stored it.
    if (!graph.getNodes()[*read.sourceNode].isStored) {
      return 0;
    }
  } else if (linesUp(node, read)) {
    return 0;
  }
  if (!argument) {
    return loadCycles;
  }
  bool isStrided =
      movementOf(read, *argument, orderOf(graph, read)) == Movement::Strided;
  return (isStrided ? lanes * gatherCycles : loadCycles) +
         (read.guardMoves[*argument] ? maskCycles : 0);
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

static double productOf(ArrayRef<double> extents) {
  return std::accumulate(extents.begin(), extents.end(), 1.0,
                         std::multiplies<>());
}

/// How many vectors of lanes along `argument` walk a primitive's domain. Axes
/// that lie outside of it and continue it in every load are one with it.
double LayoutCost::vectorsOf(const LayoutNode &node, unsigned argument) const {
  SmallVector<unsigned> walk = walkOf(graph, node);
  double run = 1, vectors = 1;
  bool continues = false;
  for (unsigned axis : llvm::reverse(walk)) {
    double extent = node.extents[axis];
    bool isSameKind = (axis < node.rank) == (argument < node.rank);
    continues = axis == argument ||
                (continues && isSameKind &&
                 llvm::all_of(node.reads, [&](const auto &read) {
                   AxisOrder order = orderOf(graph, read);
                   auto inner = strideOf(read, argument, order),
                        outer = strideOf(read, axis, order);
                   return inner && outer && *outer == *inner * run &&
                          !read.guardMoves[axis] && !read.guardMoves[argument];
                 }));
    (continues ? run : vectors) *= extent;
  }
  return vectors * std::ceil(run / lanes);
}

/// All of a primitive's steps, lanes along `argument` (or one by one).
double LayoutCost::ofSteps(const LayoutNode &node,
                           std::optional<unsigned> argument) const {
  double cycles = node.arithmetic;
  for (const TensorRead &read : node.reads) {
    cycles += ofRead(node, read, argument);
  }
  return cycles *
         (argument ? vectorsOf(node, *argument) : productOf(node.extents));
}

/// What is lost where a load does not line up and keeps regions apart.
double LayoutCost::ofBrokenFusion(const LayoutNode &node) const {
  double cycles = 0;
  for (const TensorRead &read : node.reads) {
    bool couldJoin = read.arguments && read.sourceClass && !read.staysInside &&
                     !node.isContraction;
    if (couldJoin && !linesUp(node, read)) {
      cycles += launchCycles;
    }
  }
  return cycles;
}

double LayoutCost::ofNode(const LayoutNode &node,
                          std::optional<unsigned> axis) const {
  if (node.isCopy && linesUp(node, node.reads.front())) {
    return 0; // the copy goes
  }
  double cycles = ofSteps(node, axis);
  double results = productOf(ArrayRef(node.extents).take_front(node.rank));
  if (node.isReduce()) {
    // Lanes along the reduction leave one sum to add up for each result.
    double sum = halvingCycles * std::log2(lanes) + storeCycles;
    cycles = std::min(cycles,
                      ofSteps(node, node.extents.size() - 1) + results * sum);
  }
  if (node.isStored) {
    bool isLast =
        axis && graph.getClasses()[node.orderClass].order.back() == *axis;
    double vectors =
        axis ? vectorsOf(node, *axis) * results / productOf(node.extents)
             : results;
    double each = !axis || isLast ? storeCycles : lanes * scatterCycles;
    cycles += vectors * each * node.op->getNumResults();
  }
  return cycles + ofBrokenFusion(node);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

double LayoutCost::ofCopies(Value value, ArrayRef<unsigned> order) const {
  if (isIdentity(order)) {
    return 0;
  }
  double cycles = 0;
  bool needsCopy = false;
  for (Operation *user : value.getUsers()) {
    if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      ArrayRef<ReshapeGroup> groups = graph.groupsOf(reshape);
      auto carried =
          groups.empty() ? std::nullopt : orderBehindReshape(groups, order);
      needsCopy |= !carried;
      cycles += carried ? ofCopies(reshape, *carried) : 0;
    } else if (!isa<LoadOp>(user)) {
      needsCopy = true;
    }
  }
  if (needsCopy) {
    double perVector = lanes * gatherCycles + storeCycles;
    cycles +=
        launchCycles + graph.elementsOf(value.getType()) / lanes * perVector;
  }
  return cycles;
}

double LayoutCost::ofClass(unsigned number) {
  const OrderClass &own = graph.getClasses()[number];
  std::string key(own.order.begin(), own.order.end());
  for (unsigned source : own.sources) {
    const AxisOrder &order = graph.getClasses()[source].order;
    key.append(order.begin(), order.end());
  }
  auto [entry, isNew] = known[number].try_emplace(key);
  if (isNew) {
    entry->second = compute(number);
  }
  return entry->second;
}

double LayoutCost::compute(unsigned number) const {
  const OrderClass &own = graph.getClasses()[number];
  auto total = [&](std::optional<unsigned> axis) {
    double cycles = 0;
    for (unsigned node : own.nodes) {
      cycles += ofNode(graph.getNodes()[node], axis);
    }
    return cycles;
  };
  double best = total(std::nullopt);
  for (unsigned axis = 0; axis < own.rank; ++axis) {
    best = std::min(best, total(axis));
  }
  for (unsigned node : own.nodes) {
    for (Value result : graph.getNodes()[node].op->getResults()) {
      best += ofCopies(result, own.order);
    }
  }
  return best;
}

} // namespace tilewright
