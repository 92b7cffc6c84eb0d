//===- DropUnitAxes.cpp - reductions over axes of size one ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The window of a 1x1 convolution is one element: without those two axes the
// reduction is a matrix product, and is read as one from here on.
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

/// The reduction's extents without those of one; one axis stays in any case.
static SmallVector<DimExpr> longExtents(ReduceOp reduce) {
  SmallVector<DimExpr> extents = reduce.getExtents().getDims(), kept;
  llvm::copy_if(extents, std::back_inserter(kept), [](DimExpr e) { return !e.isConstant(1); });
  if (kept.empty() && !extents.empty()) {
    kept.push_back(extents.front());
  }
  return kept;
}

/// Rebuilds `reduce` over `extents`; coordinates of dropped axes are zero.
static void dropAxes(ReduceOp reduce, ArrayRef<DimExpr> extents) {
  OpBuilder builder(reduce);
  auto smaller = ReduceOp::create(builder, reduce.getLoc(), reduce.getType(), reduce.getKind(),
                                  extents);
  smaller.setRootAttr(reduce.getRootAttr());
  Block &from = reduce.getBody().front(), &to = smaller.getBody().front();
  to.clear();
  BodyBuilder body(reduce.getLoc(), OpBuilder::atBlockEnd(&to));
  SmallVector<DimExpr> domain = reduce.getDomain();
  unsigned parallel = reduce.getParallelRank(), next = parallel;
  IRMapping mapping;
  for (BlockArgument argument : from.getArguments()) {
    unsigned number = argument.getArgNumber();
    bool isKept = number < parallel || !domain[number].isConstant(1) ||
                  (number == parallel && extents.front().isConstant(1));
    if (isKept) {
      mapping.map(argument, to.getArgument(number < parallel ? number : next++));
    } else {
      mapping.map(argument, body.index(0));
    }
  }
  for (Operation &op : from) {
    cloneFolded(body, op, mapping);
  }
  reduce.replaceAllUsesWith(smaller.getResult());
  reduce.erase();
  simplifyBody(smaller);
}

namespace {

class DropUnitAxes : public impl::DropUnitAxesBase<DropUnitAxes> {
public:
  explicit DropUnitAxes(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    SmallVector<ReduceOp> reduces;
    getOperation()->walk([&](ReduceOp reduce) { reduces.push_back(reduce); });
    for (ReduceOp reduce : reduces) {
      SmallVector<DimExpr> extents = longExtents(reduce);
      if (extents.size() < reduce.getExtents().getSizes().size()) {
        decisions.did(reasons::unitAxesDropped, reduce.getLoc(), "reduction");
        dropAxes(reduce, extents);
      }
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
