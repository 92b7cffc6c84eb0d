//===- UnitReductions.cpp - reductions over one element are maps ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The outer product of positions and frequencies is written as a matrix product
// over one element. As a map it joins the arithmetic around it.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/fuse/InlineBody.h"
#include "passes/fuse/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_UNITREDUCTIONS
#include "passes/fuse/Passes.h.inc"

using namespace tw;

static bool foldsOneElement(ReduceOp reduce) {
  Type element = scalarType(elementTypeOf(reduce.getType()));
  return !reduce.isArg() &&
         yieldOf(reduce).getOperand(0).getType() == element &&
         llvm::all_of(reduce.getExtents().getDims(),
                      [](DimExpr extent) { return extent.isConstant(1); });
}

/// Replaces the reduction by a map with its body, at coordinate zero.
static void replaceByMap(ReduceOp reduce) {
  OpBuilder builder(reduce);
  auto map =
      MapOp::create(builder, reduce.getLoc(), TypeRange(reduce.getType()));
  if (Attribute root = reduce->getAttr("root")) {
    map->setAttr("root", root);
  }
  Block &from = reduce.getBody().front(), &to = map.getBody().front();
  to.clear();
  BodyBuilder body(reduce.getLoc(), OpBuilder::atBlockEnd(&to));
  IRMapping mapping;
  for (BlockArgument argument : from.getArguments()) {
    unsigned number = argument.getArgNumber();
    mapping.map(argument, number < reduce.getParallelRank()
                              ? Value(to.getArgument(number))
                              : body.index(0));
  }
  for (Operation &op : from) {
    cloneFolded(body, op, mapping);
  }
  reduce.getResult().replaceAllUsesWith(map.getResult(0));
  reduce.erase();
  simplifyBody(map);
}

namespace {

class UnitReductions : public impl::UnitReductionsBase<UnitReductions> {
public:
  explicit UnitReductions(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    SmallVector<ReduceOp> reduces;
    getOperation()->walk([&](ReduceOp reduce) {
      if (foldsOneElement(reduce)) {
        reduces.push_back(reduce);
      }
    });
    for (ReduceOp reduce : reduces) {
      decisions.did(reasons::unitReduction, reduce.getLoc(), "reduction");
      replaceByMap(reduce);
    }
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createUnitReductionsPass(DecisionLog *log) {
  return std::make_unique<UnitReductions>(log);
}

} // namespace tilewright
