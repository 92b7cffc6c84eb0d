//===- Pool.cpp - what pooling means --------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/decompose/Window.h"

using namespace mlir;

namespace tilewright::tw {

/// The value that never wins a maximum.
static Value lowest(BodyBuilder &body, Type element) {
  Type type = scalarType(element);
  if (auto real = dyn_cast<FloatType>(type)) {
    return body.create<arith::ConstantOp>(FloatAttr::get(
        real, APFloat::getInf(real.getFloatSemantics(), /*Negative=*/true)));
  }
  unsigned width = cast<IntegerType>(type).getWidth();
  APInt least = isUnsigned(element) ? APInt::getZero(width)
                                    : APInt::getSignedMinValue(width);
  return body.create<arith::ConstantOp>(IntegerAttr::get(type, least));
}

namespace {

/// The pool that is decomposed, and what its bodies need.
struct Window {
  mutable PoolOp pool; // ODS accessors are not const
  SmallVector<DimExpr> inputDims, dims, pads, extents;

  explicit Window(PoolOp pool)
      : pool(pool), inputDims(dimsOf(pool.getInput().getType())),
        dims(dimsOf(pool.getType())), pads(pool.getPads().getDims()) {
    for (int64_t size : pool.getKernel()) {
      extents.push_back(DimExpr::constant(pool.getContext(), size));
    }
  }

  size_t spatial() const { return inputDims.size() - 2; }

  /// The element of the window at `at`, or `padding` outside the input.
  Value load(BodyBuilder &body, ValueRange at, Value padding) const {
    ValueRange out = at.drop_front(2).take_front(spatial());
    SmallVector<Value> from{at[0], at[1]};
    SmallVector<Value> position =
        windowCoordinates(body, out, at.take_back(spatial()), pool.getStrides(),
                          pool.getDilations(), pads);
    Value guard =
        insideWindow(body, position, ArrayRef(inputDims).drop_front(2),
                     ArrayRef(dims).drop_front(2), extents, pool.getStrides(),
                     pool.getDilations(), pads);
    llvm::append_range(from, position);
    return body.load(pool.getInput(), from, guard, padding);
  }

  /// How many elements the average at `at` divides by: along each axis, those
  /// window positions that lie inside the input (or the padded input).
  Value count(BodyBuilder &body, ValueRange at, bool countPadding) const {
    Value product = body.index(1);
    for (size_t i = 0; i < spatial(); ++i) {
      int64_t dilation = pool.getDilations()[i];
      Value start = body.sub(body.mul(at[2 + i], pool.getStrides()[i]),
                             body.size(pads[i]));
      Value low = countPadding ? body.sub(body.index(0), body.size(pads[i]))
                               : body.index(0);
      Value high =
          body.size(countPadding ? inputDims[2 + i] + pads[spatial() + i]
                                 : inputDims[2 + i]);
      // First k with start + k * dilation >= low, first k with it >= high.
      Value step = body.index(dilation);
      auto firstAtLeast = [&](Value bound) {
        Value k =
            body.floorDiv(body.add(body.sub(bound, start), dilation - 1), step);
        return body.min(body.max(k, body.index(0)), body.size(extents[i]));
      };
      product =
          body.mul(product, body.sub(firstAtLeast(high), firstAtLeast(low)));
    }
    return product;
  }
};

} // namespace

static Value sumOf(OpBuilder &builder, const Window &window, Type accumulator,
                   int64_t power) {
  return buildReduce(
      builder, window.pool->getLoc(), FoldKind::Add, window.dims,
      window.extents, accumulator,
      [&](BodyBuilder &body, ValueRange at) -> Value {
        Type element = elementTypeOf(window.pool.getInput().getType());
        Value x = body.widen(
            window.load(body, at, body.constant(scalarType(element), 0)));
        if (power == 0) {
          return x;
        }
        Value size = body.create<math::AbsFOp>(x);
        if (power == 2) {
          return body.mulOf(size, size);
        }
        return power == 1
                   ? size
                   : Value(body.create<math::PowFOp>(
                         size, body.constant(accumulator,
                                             static_cast<double>(power))));
      },
      "pool");
}

FailureOr<SmallVector<Value>> PoolOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  Window window(*this);
  Type element = elementTypeOf(getType());
  if (getKind() == PoolKind::Max) {
    return SmallVector<Value>{buildReduce(
        builder, loc, FoldKind::Max, window.dims, window.extents, element,
        [&](BodyBuilder &body, ValueRange at) {
          return window.load(body, at, lowest(body, element));
        },
        "pool")};
  }
  Type accumulator = computeType(element);
  bool isLp = getKind() == PoolKind::Lp;
  int64_t p = getP();
  Value sum = sumOf(builder, window, accumulator, isLp ? p : 0);
  return SmallVector<Value>{buildMap(
      builder, loc, window.dims, element,
      [&](BodyBuilder &body, ValueRange at) {
        Value value = body.load(sum, at);
        if (!isLp) {
          Value count = window.count(body, at, getCountPadding());
          Value divisor =
              body.create<arith::IndexCastOp>(body.getI64Type(), count);
          Value real = body.create<arith::SIToFPOp>(accumulator, divisor);
          value = body.create<arith::DivFOp>(value, real);
        } else if (p == 2) {
          value = body.create<math::SqrtOp>(value);
        } else if (p != 1) {
          value = body.create<math::PowFOp>(
              value, body.constant(accumulator, 1.0 / p));
        }
        return body.narrow(value, element);
      })};
}

} // namespace tilewright::tw
