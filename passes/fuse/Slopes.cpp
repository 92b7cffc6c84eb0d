//===- Slopes.cpp - how coordinates grow ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Slopes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

Slope SlopeAnalysis::of(Value value) {
  if (value == coordinate) {
    return Slope::constant(1);
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != coordinate.getOwner()) {
    return Slope::constant(0);
  }
  auto known = slopes.find(value);
  if (known != slopes.end()) {
    return known->second;
  }
  Slope slope = compute(op);
  slopes[value] = slope;
  return slope;
}

Slope SlopeAnalysis::compute(Operation *op) {
  SmallVector<Slope> own;
  for (Value operand : op->getOperands()) {
    own.push_back(of(operand));
  }
  if (llvm::all_of(own, [](Slope s) { return s.isZero(); })) {
    return Slope::constant(0);
  }
  bool areConstant =
      llvm::all_of(own, [](Slope s) { return s.kind == Slope::Constant; });
  if (!areConstant) {
    return Slope::unknown();
  }
  APInt constant;
  if (isa<arith::AddIOp>(op)) {
    return Slope::constant(own[0].value + own[1].value);
  }
  if (isa<arith::SubIOp>(op)) {
    return Slope::constant(own[0].value - own[1].value);
  }
  if (isa<arith::MulIOp>(op)) {
    unsigned moving = own[0].isZero() ? 1 : 0;
    if (!own[1 - moving].isZero()) {
      return Slope::unknown();
    }
    if (matchPattern(op->getOperand(1 - moving), m_ConstantInt(&constant))) {
      return Slope::constant(own[moving].value * constant.getSExtValue());
    }
    return {Slope::Fixed, 0};
  }
  bool isBlock = isa<arith::FloorDivSIOp>(op) &&
                 op->getOperand(0) == coordinate &&
                 matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
                 constant.getSExtValue() % width == 0;
  return isBlock ? Slope::constant(0) : Slope::unknown();
}

} // namespace tilewright
