//===- DropUnitAxes.cpp - primitives without axes of size one -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The window of a 1x1 convolution is one element: without those two axes the
// reduction is a matrix product, and is read as one from here on. A reduction
// that keeps its axes, and the maps over [rows, 1] behind it, become primitives
// over rows, so that equal domains look equal. A reshape gives each result its
// axes back, and costs nothing.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/fuse/InlineBody.h"
#include "passes/fuse/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_DROPUNITAXES
#include "passes/fuse/Passes.h.inc"

using namespace tw;

static SmallVector<DimExpr> withoutUnits(ArrayRef<DimExpr> dims) {
  SmallVector<DimExpr> kept;
  llvm::copy_if(dims, std::back_inserter(kept),
                [](DimExpr d) { return !d.isConstant(1); });
  return kept;
}

/// The reduction's extents without those of one; one axis stays in any case.
static SmallVector<DimExpr> longExtents(ReduceOp reduce) {
  SmallVector<DimExpr> extents = reduce.getExtents().getDims(),
                       kept = withoutUnits(extents);
  if (kept.empty() && !extents.empty()) {
    kept.push_back(extents.front());
  }
  return kept;
}

/// The same primitive with an empty body over the domain without units.
static Operation *createSmaller(OpBuilder &builder, Operation *op) {
  auto smallerType = [](Type type) {
    return tensorType(withoutUnits(dimsOf(type)), elementTypeOf(type));
  };
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    return ReduceOp::create(builder, op->getLoc(),
                            smallerType(reduce.getType()), reduce.getKind(),
                            longExtents(reduce));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    types.push_back(smallerType(type));
  }
  return MapOp::create(builder, op->getLoc(), types);
}

/// Rebuilds `op` without axes of size one, whose coordinates are zero.
static void dropUnitAxes(Operation *op) {
  OpBuilder builder(op);
  Operation *smaller = createSmaller(builder, op);
  if (Attribute root = op->getAttr("root")) {
    smaller->setAttr("root", root);
  }
  Block &from = op->getRegion(0).front(), &to = smaller->getRegion(0).front();
  to.clear();
  BodyBuilder body(op->getLoc(), OpBuilder::atBlockEnd(&to));
  SmallVector<DimExpr> domain = domainOf(op);
  unsigned next = 0;
  IRMapping mapping;
  for (BlockArgument argument : from.getArguments()) {
    // A reduction over units alone keeps its first axis.
    unsigned number = argument.getArgNumber();
    auto reduce = dyn_cast<ReduceOp>(op);
    bool isLastResort = reduce && number == reduce.getParallelRank() &&
                        withoutUnits(reduce.getExtents().getDims()).empty();
    bool isKept = !domain[number].isConstant(1) || isLastResort;
    mapping.map(argument,
                isKept ? Value(to.getArgument(next++)) : body.index(0));
  }
  for (Operation &inner : from) {
    cloneFolded(body, inner, mapping);
  }
  for (auto [result, replacement] :
       llvm::zip(op->getResults(), smaller->getResults())) {
    Value shaped = buildReshape(builder, op->getLoc(), replacement,
                                dimsOf(result.getType()));
    result.replaceAllUsesWith(shaped);
  }
  op->erase();
  simplifyBody(smaller);
}

/// True if some axis of the domain can go.
static bool hasUnitAxes(Operation *op) {
  size_t kept = withoutUnits(dimsOf(op->getResult(0).getType())).size();
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    kept += longExtents(reduce).size();
  }
  return kept < domainOf(op).size();
}

namespace {

class DropUnitAxes : public impl::DropUnitAxesBase<DropUnitAxes> {
public:
  explicit DropUnitAxes(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    SmallVector<Operation *> primitives;
    getOperation()->walk([&](Operation *op) {
      if (isa<MapOp, ReduceOp>(op) && hasUnitAxes(op)) {
        primitives.push_back(op);
      }
    });
    for (Operation *op : primitives) {
      decisions.did(reasons::unitAxesDropped, op->getLoc(),
                    op->getName().getStringRef());
      dropUnitAxes(op);
    }
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createDropUnitAxesPass(DecisionLog *log) {
  return std::make_unique<DropUnitAxes>(log);
}

} // namespace tilewright
