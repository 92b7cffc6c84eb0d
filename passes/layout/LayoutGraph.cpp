//===- LayoutGraph.cpp - what ties layouts together -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/layout/LayoutGraph.h"
#include "passes/fuse/Access.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// What a size counts as that only run time knows. The leading axis of three or
/// more is a batch, and most batches are one.
static constexpr int64_t unknownExtent = 128, unknownBatch = 1;
/// Cycles of one vector operation, and of one that is a polynomial.
static constexpr double simpleCycles = 0.5, functionCycles = 10;

bool hasKnownDims(Type tensor) {
  return llvm::all_of(dimsOf(tensor),
                      [](DimExpr dim) { return static_cast<bool>(dim); });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Adds the symbol that stands alone as the leading size of `tensor`.
static void collectBatch(Type tensor, llvm::StringSet<> &batches) {
  if (!isa<RankedTensorType>(tensor)) {
    return;
  }
  SmallVector<DimExpr> dims = dimsOf(tensor);
  if (dims.size() >= 3 && dims.front() && !dims.front().symbolName().empty()) {
    batches.insert(dims.front().symbolName());
  }
}

double LayoutGraph::extentOf(DimExpr dim) const {
  if (!dim) {
    return unknownExtent;
  }
  std::optional<int64_t> value = dim.evaluate([&](StringRef symbol) {
    return batches.contains(symbol) ? unknownBatch : unknownExtent;
  });
  return static_cast<double>(
      std::max<int64_t>(value.value_or(unknownExtent), 1));
}

double LayoutGraph::elementsOf(Type tensor) const {
  double elements = 1;
  for (DimExpr dim : dimsOf(tensor)) {
    elements *= extentOf(dim);
  }
  return elements;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// The value that reshapes show.
static Value stripReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    value = reshape.getSource();
  }
  return value;
}

/// The arguments that the indices of `load` are, if each is another one.
static std::optional<SmallVector<unsigned>> argumentsOf(LoadOp load) {
  SmallVector<unsigned> arguments;
  for (Value index : load.getIndices()) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (load.getGuard() || !argument ||
        llvm::is_contained(arguments, argument.getArgNumber())) {
      return std::nullopt;
    }
    arguments.push_back(argument.getArgNumber());
  }
  return arguments;
}

static double arithmeticOf(Operation *op) {
  BodyCost cost = costOf(op);
  return simpleCycles * cost.flops +
         (cost.transcendental ? functionCycles : 0.0);
}

/// True for a map whose body is one load and nothing else.
static bool isCopy(Operation *op) {
  auto load = yieldOf(op)->getNumOperands() == 1
                  ? yieldOf(op).getOperand(0).getDefiningOp<LoadOp>()
                  : LoadOp();
  return isa<MapOp>(op) && load && !load.getGuard() &&
         elementTypeOf(load.getSource().getType()) ==
             elementTypeOf(op->getResult(0).getType());
}

void LayoutGraph::addNode(Operation *op, unsigned lanes) {
  LayoutNode node;
  node.op = op;
  node.rank = dimsOf(op->getResult(0).getType()).size();
  for (DimExpr dim : domainOf(op)) {
    node.extents.push_back(extentOf(dim));
  }
  node.isContraction = isContraction(op);
  node.isCopy = isCopy(op);
  bool folds = isa<ReduceOp>(op) && !node.isContraction; // else fused
  node.arithmetic = arithmeticOf(op) + (folds ? simpleCycles : 0);
  node.hasOneReader = countReaders(op) == 1;
  Block &body = op->getRegion(0).front();
  for (LoadOp load : body.getOps<LoadOp>()) {
    TensorRead read;
    read.load = load;
    read.source = load.getSource();
    read.arguments = argumentsOf(load);
    for (DimExpr dim : dimsOf(load.getSource().getType())) {
      read.extents.push_back(extentOf(dim));
    }
    read.isConstant =
        stripReshapes(load.getSource()).getDefiningOp<ConstantOp>() != nullptr;
    node.reads.push_back(std::move(read));
  }
  for (BlockArgument argument : body.getArguments()) {
    SlopeAnalysis analysis(argument, lanes);
    for (TensorRead &read : node.reads) {
      read.slopes.push_back(llvm::map_to_vector(
          read.load.getIndices(), [&](Value v) { return analysis.of(v); }));
      Value guard = read.load.getGuard();
      read.guardMoves.push_back(guard && !analysis.of(guard).isZero());
    }
  }
  nodeOf[op] = nodes.size();
  nodes.push_back(std::move(node));
}

LayoutGraph::LayoutGraph(Operation *root, unsigned lanes) {
  root->walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      collectBatch(type, batches);
    }
    for (Region &region : op->getRegions()) {
      for (Block &block : region) {
        for (BlockArgument argument : block.getArguments()) {
          collectBatch(argument.getType(), batches);
        }
      }
    }
  });
  for (Block *block : graphBlocks(root)) {
    for (Operation &op : *block) {
      if (isa<MapOp, ReduceOp>(op)) {
        addNode(&op, lanes);
      } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
        Type from = reshape.getSource().getType(), to = reshape.getType();
        if (hasKnownDims(from) && hasKnownDims(to)) {
          groups[reshape] = groupAxes(dimsOf(from), dimsOf(to));
        }
      }
    }
  }
  formClasses();
  connectReads();
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// True if a primitive reads another's result at its own coordinates, over the
/// same dims and in the same block: one region if nothing else is against it.
static bool isTied(LoadOp load, Operation *reader) {
  Operation *source = load.getSource().getDefiningOp();
  return isa<MapOp>(reader) && isa_and_nonnull<MapOp, ReduceOp>(source) &&
         source->getBlock() == reader->getBlock() &&
         dimsOf(load.getSource().getType()) == domainOf(reader) &&
         readsAtOwnCoordinates(load);
}

void LayoutGraph::formClasses() {
  llvm::IntEqClasses ties(nodes.size());
  for (auto [number, node] : llvm::enumerate(nodes)) {
    for (TensorRead &read : node.reads) {
      if (isTied(read.load, node.op)) {
        read.staysInside = true;
        ties.join(number, nodeOf.lookup(read.load.getSource().getDefiningOp()));
      }
    }
  }
  ties.compress();
  classes.resize(ties.getNumClasses());
  for (auto [number, node] : llvm::enumerate(nodes)) {
    node.orderClass = ties[number];
    OrderClass &own = classes[node.orderClass];
    own.mayMove =
        node.rank >= 2 && hasKnownDims(node.op->getResult(0).getType());
    own.rank = node.rank;
    own.order = identityOrder(node.rank);
    own.nodes.push_back(number);
    own.readers.insert(node.orderClass);
  }
}

void LayoutGraph::connectReads() {
  llvm::SmallPtrSet<Operation *, 16> inside; // loads that leave no class
  for (LayoutNode &node : nodes) {
    for (TensorRead &read : node.reads) {
      Operation *source = stripReshapes(read.load.getSource()).getDefiningOp();
      auto found = nodeOf.find(source);
      if (found == nodeOf.end()) {
        continue;
      }
      read.sourceNode = found->second;
      read.sourceClass = nodes[found->second].orderClass;
      classes[*read.sourceClass].readers.insert(node.orderClass);
      classes[node.orderClass].sources.insert(*read.sourceClass);
      if (read.staysInside) {
        inside.insert(read.load);
      }
    }
  }
  for (LayoutNode &node : nodes) {
    node.isStored = llvm::any_of(node.op->getUsers(), [&](Operation *user) {
      return !inside.contains(user);
    });
  }
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

ArrayRef<ReshapeGroup> LayoutGraph::groupsOf(ReshapeOp reshape) const {
  auto found = groups.find(reshape);
  return found == groups.end() ? ArrayRef<ReshapeGroup>() : found->second;
}

SmallVector<unsigned> walkOf(const LayoutGraph &graph, const LayoutNode &node) {
  SmallVector<unsigned> walk(graph.getClasses()[node.orderClass].order);
  for (unsigned axis = node.rank; axis < node.extents.size(); ++axis) {
    walk.push_back(axis);
  }
  return walk;
}

AxisOrder LayoutGraph::orderOf(Value value) const {
  unsigned rank = cast<RankedTensorType>(value.getType()).getRank();
  Operation *op = value.getDefiningOp();
  if (auto found = nodeOf.find(op); found != nodeOf.end()) {
    return classes[nodes[found->second].orderClass].order;
  }
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    AxisOrder order = orderOf(reshape.getSource());
    if (!isIdentity(order)) {
      ArrayRef<ReshapeGroup> known = groupsOf(reshape);
      auto carried =
          known.empty() ? std::nullopt : orderBehindReshape(known, order);
      return carried.value_or(identityOrder(rank));
    }
  }
  return identityOrder(rank);
}

} // namespace tilewright
