//===- Access.cpp - how loads move along a coordinate ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/Access.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

namespace {

/// By how much a value grows per step: a constant, a size that only run time
/// knows, or nothing that can be said.
struct Slope {
  enum { Constant, Fixed, Unknown } kind = Constant;
  int64_t value = 0;

  static Slope constant(int64_t value) { return {Constant, value}; }
  static Slope unknown() { return {Unknown, 0}; }
  bool isZero() const { return kind == Constant && value == 0; }
};

} // namespace

namespace {

/// Slopes along one coordinate, each value of the body looked at once.
class SlopeAnalysis {
public:
  SlopeAnalysis(BlockArgument coordinate, int64_t width)
      : coordinate(coordinate), width(width) {}

  Slope of(Value value) {
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

private:
  Slope compute(Operation *op);

  BlockArgument coordinate;
  int64_t width;
  llvm::DenseMap<Value, Slope> slopes;
};

} // namespace

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

Movement movementOf(LoadOp load, BlockArgument coordinate, int64_t width) {
  ValueRange indices = load.getIndices();
  SmallVector<DimExpr> strides =
      stridesOf(load.getContext(), dimsOf(load.getSource().getType()));
  int64_t total = 0;
  bool isFixed = false;
  SlopeAnalysis slopes(coordinate, width);
  for (auto [index, stride] : llvm::zip(indices, strides)) {
    Slope slope = slopes.of(index);
    if (slope.isZero()) {
      continue;
    }
    if (slope.kind == Slope::Unknown) {
      return Movement::Irregular;
    }
    if (slope.kind == Slope::Fixed || !stride.getConstant()) {
      isFixed = true;
      continue;
    }
    total += slope.value * *stride.getConstant();
  }
  if (isFixed) {
    return Movement::Strided;
  }
  return total == 0   ? Movement::None
         : total == 1 ? Movement::Contiguous
                      : Movement::Strided;
}

} // namespace tilewright::families
