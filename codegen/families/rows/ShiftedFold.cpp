//===- ShiftedFold.cpp - sums whose shift comes later ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/ShiftedFold.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tilewright::families {

ShiftedFold::ShiftedFold(KernelFrame &frame, const ShiftedTerm &term,
                         int64_t width)
    : b(frame.getBuilder()), term(term), width(width),
      type(cast<FloatType>(term.x.getType())) {}

Value ShiftedFold::constant(double value) {
  return b.create<arith::ConstantOp>(b.getFloatAttr(type, value));
}

/// The finite number that is largest, or least.
Value ShiftedFold::largest(bool negative) {
  return b.create<arith::ConstantOp>(b.getFloatAttr(
      type, APFloat::getLargest(type.getFloatSemantics(), negative)));
}

/// A scalar in all lanes.
Value ShiftedFold::everywhere(Value scalar) {
  return width > 1 ? Value(b.create<vector::BroadcastOp>(
                         VectorType::get({width}, type), scalar))
                   : scalar;
}

Value ShiftedFold::exponential(Value x) {
  Operation *clone = term.exponential->clone();
  clone->setOperand(0, x);
  b.insert(clone);
  clone->getResult(0).setType(x.getType());
  return clone->getResult(0);
}

SmallVector<Value> ShiftedFold::initial() {
  Value zero = constant(0);
  if (!term.exponential) {
    return {zero, everywhere(zero), everywhere(zero)}; // count, means, sums
  }
  // Not infinity: elements of -inf count for nothing below it.
  return {largest(/*negative=*/true), everywhere(zero)};
}

SmallVector<Value> ShiftedFold::accumulate(const Lanes &lanes,
                                           ArrayRef<Value> state) {
  Value x = width > 1 ? b.asVector(lanes) : b.first(lanes);
  if (!term.exponential) {
    Value count = b.create<arith::AddFOp>(state[0], constant(1));
    Value from = b.create<arith::SubFOp>(x, state[1]);
    Value mean;
    if (width == 1) {
      Value step = b.create<arith::DivFOp>(from, count);
      mean = b.create<arith::AddFOp>(state[1], step);
    } else { // one division for all lanes
      Value weight = b.create<arith::DivFOp>(constant(1), count);
      mean = b.create<math::FmaOp>(from, everywhere(weight), state[1]);
    }
    Value to = b.create<arith::SubFOp>(x, mean);
    return {count, mean, b.create<math::FmaOp>(from, to, state[2])};
  }
  Value greatest = state[0];
  for (int64_t lane = 0; lane < width; ++lane) {
    Value one =
        width > 1
            ? Value(b.create<vector::ExtractOp>(x, ArrayRef<int64_t>{lane}))
            : x;
    greatest = b.create<arith::MaxNumFOp>(greatest, one);
  }
  // Of an infinite element, the difference to itself says nothing.
  greatest = b.create<arith::MinNumFOp>(greatest, largest(/*negative=*/false));
  Value factor = exponential(b.create<arith::SubFOp>(state[0], greatest));
  Value own = exponential(b.create<arith::SubFOp>(x, everywhere(greatest)));
  return {greatest, b.create<math::FmaOp>(state[1], everywhere(factor), own)};
}

Value ShiftedFold::sumFor(const Lanes &lanes, ArrayRef<Value> state) {
  Value shift = b.first(lanes);
  if (!term.exponential) {
    // A thread without elements has no part in it, not even of infinity.
    Value isEmpty = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, state[0],
                                            constant(0));
    Value own = b.create<arith::SelectOp>(isEmpty, constant(0), shift);
    Value from = b.create<arith::SubFOp>(state[1], everywhere(own));
    Value all = b.create<arith::MulFOp>(from, everywhere(state[0]));
    return b.create<math::FmaOp>(all, from, state[2]);
  }
  // The lanes together: the factor may be infinite, and one lane zero.
  Value factor = exponential(b.create<arith::SubFOp>(state[0], shift));
  if (width == 1) {
    return b.create<arith::MulFOp>(state[1], factor);
  }
  SmallVector<Value> lane;
  for (int64_t i = 0; i < width; ++i) {
    lane.push_back(b.create<vector::ExtractOp>(state[1], ArrayRef<int64_t>{i}));
  }
  SmallVector<Value> sums(lane.size(), constant(0));
  Value sum = lane[0];
  for (Value other : ArrayRef(lane).drop_front()) {
    sum = b.create<arith::AddFOp>(sum, other);
  }
  sums[0] = b.create<arith::MulFOp>(sum, factor);
  return b.create<vector::FromElementsOp>(state[1].getType(), sums);
}

} // namespace tilewright::families
