//===- ParallelBodies.cpp - the same work on other constants --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/ParallelBodies.h"
#include "ir/BodyBuilder.h"
#include "ir/Locations.h"
#include "mlir/IR/IRMapping.h"
#include "passes/fuse/Access.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// The axis of the load's tensor that `coordinate` indexes, if it is the only
/// one that does.
static std::optional<unsigned> axisIndexedBy(LoadOp load, Value coordinate) {
  std::optional<unsigned> axis;
  for (auto [i, index] : llvm::enumerate(load.getIndices())) {
    if (index == coordinate) {
      if (axis) {
        return std::nullopt;
      }
      axis = i;
    }
  }
  return axis;
}

static bool isConstant(Value value) {
  return value.getDefiningOp<ConstantOp>() != nullptr;
}

std::optional<unsigned> constantAxis(ReduceOp contraction) {
  SmallVector<DimExpr> dims = dimsOf(contraction.getType());
  for (unsigned axis = 0; axis < dims.size(); ++axis) {
    BlockArgument coordinate = contraction.getBody().getArgument(axis);
    bool indexesConstants =
        !coordinate.use_empty() &&
        llvm::all_of(coordinate.getUsers(), [&](Operation *user) {
          auto load = dyn_cast<LoadOp>(user);
          return load && isConstant(load.getSource()) &&
                 axisIndexedBy(load, coordinate);
        });
    if (indexesConstants && dims[axis].getConstant()) {
      return axis;
    }
  }
  return std::nullopt;
}

namespace {

/// Compares two bodies operation by operation.
class Comparison {
public:
  Comparison(Operation *a, Operation *b, unsigned axis, Value earlierA,
             Value earlierB)
      : a(a), b(b), axis(axis), earlierA(earlierA), earlierB(earlierB) {}

  bool run() {
    Block &left = a->getRegion(0).front(), &right = b->getRegion(0).front();
    if (!haveSameShell() ||
        left.getOperations().size() != right.getOperations().size()) {
      return false;
    }
    for (auto [x, y] : llvm::zip(left.getArguments(), right.getArguments())) {
      counterparts[x] = y;
    }
    return llvm::all_of(llvm::zip(left, right), [&](auto pair) {
      return areAlike(std::get<0>(pair), std::get<1>(pair));
    });
  }

private:
  /// The same kind of primitive over the same dims off the axis.
  bool haveSameShell() {
    SmallVector<DimExpr> domainA = domainOf(a), domainB = domainOf(b);
    if (a->getName() != b->getName() || a->getNumResults() != 1 ||
        b->getNumResults() != 1 ||
        a->getAttrDictionary() != b->getAttrDictionary() ||
        domainA.size() != domainB.size() ||
        elementTypeOf(a->getResult(0).getType()) !=
            elementTypeOf(b->getResult(0).getType()) ||
        !domainA[axis].getConstant() || !domainB[axis].getConstant()) {
      return false;
    }
    domainA[axis] = domainB[axis];
    return domainA == domainB;
  }

  bool areAlike(Operation &x, Operation &y) {
    if (x.getName() != y.getName() ||
        x.getAttrDictionary() != y.getAttrDictionary() ||
        x.getResultTypes() != y.getResultTypes() ||
        x.getNumOperands() != y.getNumOperands()) {
      return false;
    }
    auto load = dyn_cast<LoadOp>(x);
    if (load && !readsAlike(load, cast<LoadOp>(y))) {
      return false;
    }
    for (auto [i, pair] :
         llvm::enumerate(llvm::zip(x.getOperands(), y.getOperands()))) {
      auto [ours, theirs] = pair;
      bool isSource = load && i == 0;
      if (!isSource && counterparts.lookup(ours) != theirs) {
        return false;
      }
      // What depends on the axis in another way would need a coordinate of
      // each member's own.
      if (ours == coordinate() && !load) {
        return false;
      }
    }
    for (auto [ours, theirs] : llvm::zip(x.getResults(), y.getResults())) {
      counterparts[ours] = theirs;
    }
    return true;
  }

  bool readsAlike(LoadOp x, LoadOp y) {
    Value left = x.getSource(), right = y.getSource();
    std::optional<unsigned> along = axisIndexedBy(x, coordinate());
    if (left == earlierA || right == earlierB) {
      return left == earlierA && right == earlierB &&
             readsAtOwnCoordinates(x) && readsAtOwnCoordinates(y);
    }
    if (llvm::is_contained(x.getIndices(), coordinate())) {
      return along && isConstant(left) && isConstant(right) &&
             dimsOf(left.getType())[*along] == domainOf(a)[axis] &&
             dimsOf(right.getType())[*along] == domainOf(b)[axis] &&
             areSameOff(left.getType(), right.getType(), *along);
    }
    auto constantA = left.getDefiningOp<ConstantOp>(),
         constantB = right.getDefiningOp<ConstantOp>();
    return left == right ||
           (constantA && constantB && left.getType() == right.getType() &&
            constantA.getValue() == constantB.getValue());
  }

  static bool areSameOff(Type x, Type y, unsigned axis) {
    SmallVector<DimExpr> left = dimsOf(x), right = dimsOf(y);
    if (left.size() != right.size() || elementTypeOf(x) != elementTypeOf(y)) {
      return false;
    }
    left[axis] = right[axis];
    return left == right;
  }

  Value coordinate() { return a->getRegion(0).getArgument(axis); }

  Operation *a, *b;
  unsigned axis;
  Value earlierA, earlierB;
  llvm::DenseMap<Value, Value> counterparts;
};

} // namespace

bool areParallel(Operation *a, Operation *b, unsigned axis, Value earlierA,
                 Value earlierB) {
  return Comparison(a, b, axis, earlierA, earlierB).run();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// A map that lays tensors side by side along `axis`.
static Value concatenate(OpBuilder &builder, Location loc,
                         ArrayRef<Value> parts, unsigned axis) {
  Type element = elementTypeOf(parts.front().getType());
  SmallVector<DimExpr> dims = dimsOf(parts.front().getType());
  for (Value part : parts.drop_front()) {
    dims[axis] = dims[axis] + dimsOf(part.getType())[axis];
  }
  return buildMap(
      builder, loc, dims, element,
      [&](BodyBuilder &b, ValueRange at) {
        Value result = b.constant(scalarType(element), 0);
        Value position = at[axis];
        for (Value part : parts) {
          SmallVector<Value> coordinates(at);
          coordinates[axis] = position;
          DimExpr extent = dimsOf(part.getType())[axis];
          result =
              b.load(part, coordinates, b.inside(position, extent), result);
          position = b.sub(position, b.size(extent));
        }
        return result;
      },
      "concat");
}

/// The loads of a body in order.
static SmallVector<LoadOp> loadsOf(Operation *primitive) {
  return llvm::to_vector(primitive->getRegion(0).getOps<LoadOp>());
}

/// Lets a constant that sits further down stand before the builder's point.
static void hoist(OpBuilder &builder, Value constant) {
  Operation *op = constant.getDefiningOp();
  if (op->getBlock() == builder.getInsertionBlock() &&
      builder.getInsertionPoint() != op->getBlock()->end() &&
      builder.getInsertionPoint()->isBeforeInBlock(op)) {
    op->moveBefore(&*builder.getInsertionPoint());
  }
}

Operation *buildMerged(OpBuilder &builder, ArrayRef<Operation *> members,
                       unsigned axis, Value merged) {
  Operation *first = members.front();
  SmallVector<Location> locs;
  Type element = elementTypeOf(first->getResult(0).getType());
  SmallVector<DimExpr> dims = dimsOf(first->getResult(0).getType());
  dims[axis] = DimExpr::constant(builder.getContext(), 0);
  for (Operation *member : members) {
    locs.push_back(member->getLoc());
    dims[axis] = dims[axis] + dimsOf(member->getResult(0).getType())[axis];
  }
  Location loc = mergeLocations(builder.getContext(), locs);

  SmallVector<SmallVector<LoadOp>> loads;
  for (Operation *member : members) {
    loads.push_back(loadsOf(member));
  }
  Value coordinate = first->getRegion(0).getArgument(axis);
  IRMapping mapping;
  llvm::DenseMap<Operation *, Value> sources; // by load of the first
  for (auto [i, load] : llvm::enumerate(loads.front())) {
    bool isAlong = llvm::is_contained(load.getIndices(), coordinate);
    if (!isAlong) {
      continue;
    }
    if (!isConstant(load.getSource())) {
      sources[load] = merged;
      continue;
    }
    SmallVector<Value> parts;
    for (auto &own : loads) {
      parts.push_back(own[i].getSource());
      hoist(builder, parts.back());
    }
    sources[load] =
        concatenate(builder, loc, parts, *axisIndexedBy(load, coordinate));
  }

  Operation *result = builder.cloneWithoutRegions(*first);
  result->setLoc(loc);
  result->getResult(0).setType(tensorType(dims, element));
  OpBuilder::InsertionGuard guard(builder);
  Block &from = first->getRegion(0).front();
  Block *to = builder.createBlock(&result->getRegion(0));
  for (BlockArgument argument : from.getArguments()) {
    mapping.map(argument, to->addArgument(argument.getType(), loc));
  }
  for (Operation &op : from) {
    Operation *copy = builder.clone(op, mapping);
    if (Value source = sources.lookup(&op)) {
      cast<LoadOp>(copy).getSourceMutable().assign(source);
    }
  }
  return result;
}

} // namespace tilewright
