//===- HeadGroup.cpp - heads that share keys ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/HeadGroup.h"
#include "codegen/families/emit/Guards.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// How many neighbours of a coordinate give the same `factor`, as far as it is
/// divided by constants alone; 0: all.
static int64_t neighboursOf(Value factor, BlockArgument coordinate) {
  int64_t neighbours = 0;
  for (Operation *op : neededFor(factor)) {
    for (OpOperand &use : op->getOpOperands()) {
      if (use.get() != coordinate) {
        continue;
      }
      APInt divisor;
      bool isDivided =
          isa<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(op) &&
          use.getOperandNumber() == 0 &&
          matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
          divisor.isStrictlyPositive();
      neighbours = std::gcd(neighbours, isDivided ? divisor.getSExtValue() : 1);
    }
  }
  return neighbours;
}

HeadGroup headGroupOf(const AttentionForm &form) {
  ReduceOp scores = form.scores, values = form.values, max = form.max;
  SmallVector<DimExpr> extents = max.getDomain();
  HeadGroup group;
  for (auto [axis, valueAxis] : llvm::enumerate(form.rowAxes)) {
    std::optional<int64_t> extent = extents[axis].getConstant();
    if (axis == form.queryAxis || !extent || *extent == 0) {
      continue;
    }
    int64_t size = std::gcd(
        neighboursOf(form.keyFactor, scores.getBody().getArgument(axis)),
        neighboursOf(form.valueFactor,
                     values.getBody().getArgument(valueAxis)));
    size = size == 0 ? *extent : size;
    if (*extent % size == 0 && size > group.size) {
      group = {static_cast<unsigned>(axis), size};
    }
  }
  return group;
}

DimExpr rowsOfGroup(const AttentionForm &form, ArrayRef<DimExpr> parallel) {
  MLIRContext *context = ReduceOp(form.max).getContext();
  DimExpr queries = form.queryAxis ? parallel[*form.queryAxis]
                                   : DimExpr::constant(context, 1);
  return queries * headGroupOf(form).size;
}

SmallVector<DimExpr> tileExtents(const AttentionForm &form,
                                 ArrayRef<DimExpr> parallel, int64_t rows) {
  MLIRContext *context = ReduceOp(form.max).getContext();
  HeadGroup group = headGroupOf(form);
  SmallVector<DimExpr> extents(parallel);
  if (form.queryAxis) {
    extents[*form.queryAxis] = DimExpr::constant(context, 1);
  }
  if (group.axis) {
    extents[*group.axis] = DimExpr::constant(
        context, *extents[*group.axis].getConstant() / group.size);
  }
  extents.push_back(rowsOfGroup(form, parallel).ceilDiv(rows));
  return extents;
}

} // namespace tilewright::families
