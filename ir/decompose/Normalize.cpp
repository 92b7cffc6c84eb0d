//===- Normalize.cpp - what softmax and the norms mean --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"

using namespace mlir;

namespace tilewright::tw {

//===----------------------------------------------------------------------===//
// BatchNorm
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> BatchNormOp::decompose(OpBuilder &builder) {
  SmallVector<DimExpr> dims = dimsOf(getType());
  Type element = elementTypeOf(getType());
  double epsilon = getEpsilon().convertToDouble();
  return SmallVector<Value>{buildMap(
      builder, getLoc(), dims, element, [&](BodyBuilder &body, ValueRange at) {
        Type type = computeType(element);
        ValueRange channel = at.size() > 1 ? at.slice(1, 1) : ValueRange();
        auto statistic = [&](Value tensor) {
          Value position = channel.empty() ? body.index(0) : channel.front();
          Value scalar = body.load(tensor, position);
          return body.cast(scalar, elementTypeOf(tensor.getType()), type);
        };
        Value x = body.widen(body.load(getInput(), at));
        Value variance =
            body.addOf(statistic(getVariance()), body.constant(type, epsilon));
        Value factor = body.create<arith::DivFOp>(
            statistic(getScale()), body.create<math::SqrtOp>(variance));
        Value centered = body.subOf(x, statistic(getMean()));
        return body.narrow(
            body.addOf(body.mulOf(centered, factor), statistic(getBias())),
            element);
      })};
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Coordinates of a tensor from those of a reduction over `axis` that lacks it.
static SmallVector<Value> withAxis(ValueRange others, int64_t axis,
                                   Value coordinate) {
  SmallVector<Value> all(others);
  all.insert(all.begin() + axis, coordinate);
  return all;
}

static SmallVector<Value> withoutAxis(ValueRange all, int64_t axis) {
  SmallVector<Value> others(all);
  others.erase(others.begin() + axis);
  return others;
}

static Value reciprocal(BodyBuilder &body, Value x) {
  return body.create<arith::DivFOp>(body.constant(x.getType(), 1.0), x);
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  int64_t axis = getAxis();
  SmallVector<DimExpr> dims = dimsOf(getType()), rows = dims;
  DimExpr extent = dims[axis];
  rows.erase(rows.begin() + axis);
  Type element = elementTypeOf(getType());
  Type type = computeType(element);

  Value greatest = buildReduce(
      builder, loc, FoldKind::Max, rows, {extent}, type,
      [&](BodyBuilder &body, ValueRange at) {
        return body.widen(
            body.load(getInput(), withAxis(at.drop_back(), axis, at.back())));
      },
      "softmax");
  // A row of -inf alone gives NaN, as the formula has it.
  auto shifted = [&](BodyBuilder &body, ValueRange at) -> Value {
    Value x = body.widen(body.load(getInput(), at));
    return body.subOf(x, body.load(greatest, withoutAxis(at, axis)));
  };
  Value exponentials = buildMap(
      builder, loc, dims, type,
      [&](BodyBuilder &body, ValueRange at) -> Value {
        return body.create<math::ExpOp>(shifted(body, at));
      },
      "softmax");
  Value sum = buildReduce(
      builder, loc, FoldKind::Add, rows, {extent}, type,
      [&](BodyBuilder &body, ValueRange at) {
        return body.load(exponentials,
                         withAxis(at.drop_back(), axis, at.back()));
      },
      "softmax");
  return SmallVector<Value>{buildMap(
      builder, loc, dims, element,
      [&](BodyBuilder &body, ValueRange at) {
        Value total = body.load(sum, withoutAxis(at, axis));
        // The sum is at least one, or NaN: its reciprocal is as good.
        Value y = getLog() ? body.subOf(shifted(body, at),
                                        body.create<math::LogOp>(total))
                           : body.mulOf(body.load(exponentials, at),
                                        reciprocal(body, total));
        return body.narrow(y, element);
      },
      "softmax")};
}

//===----------------------------------------------------------------------===//
// Layer and RMS normalisation
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> NormalizeOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  int64_t axis = getAxis();
  SmallVector<DimExpr> dims = dimsOf(getType());
  ArrayRef<DimExpr> rows = ArrayRef(dims).take_front(axis);
  ArrayRef<DimExpr> extents = ArrayRef(dims).drop_front(axis);
  Type element = elementTypeOf(getType());
  Type type = computeType(element);
  double epsilon = getEpsilon().convertToDouble();
  DimExpr count = productOf(getContext(), extents);

  auto average = [&](BodyBuilder &body, Value sum) -> Value {
    Value integer =
        body.create<arith::IndexCastOp>(body.getI64Type(), body.size(count));
    return body.create<arith::DivFOp>(
        sum, body.create<arith::SIToFPOp>(type, integer));
  };
  auto sumOf = [&](CoordinateBody write) {
    return buildReduce(builder, loc, FoldKind::Add, rows, extents, type, write,
                       "norm");
  };
  Value mean;
  if (!getRms()) {
    mean = sumOf([&](BodyBuilder &body, ValueRange at) {
      return body.widen(body.load(getInput(), at));
    });
  }
  auto centered = [&](BodyBuilder &body, ValueRange at) {
    Value x = body.widen(body.load(getInput(), at));
    return mean ? body.subOf(
                      x, average(body, body.load(mean, at.take_front(axis))))
                : x;
  };
  Value squares = sumOf([&](BodyBuilder &body, ValueRange at) {
    Value x = centered(body, at);
    return body.mulOf(x, x);
  });
  return SmallVector<Value>{buildMap(
      builder, loc, dims, element,
      [&](BodyBuilder &body, ValueRange at) {
        Value variance = average(body, body.load(squares, at.take_front(axis)));
        Value root = body.create<math::SqrtOp>(
            body.addOf(variance, body.constant(type, epsilon)));
        // ONNX's own definition of the norms takes the reciprocal, too.
        Value y = body.mulOf(centered(body, at), reciprocal(body, root));
        auto operand = [&](Value tensor) {
          return body.cast(body.loadBroadcast(tensor, at),
                           elementTypeOf(tensor.getType()), type);
        };
        if (getScale()) {
          y = body.mulOf(y, operand(getScale()));
        }
        if (getBias()) {
          y = body.addOf(y, operand(getBias()));
        }
        return body.narrow(y, element);
      },
      "norm")};
}

} // namespace tilewright::tw
