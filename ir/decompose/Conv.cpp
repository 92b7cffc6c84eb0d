//===- Conv.cpp - what a convolution means --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/decompose/Window.h"

using namespace mlir;

namespace tilewright::tw {

FailureOr<SmallVector<Value>> ConvOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  SmallVector<DimExpr> pads = getPads().getDims();
  SmallVector<DimExpr> inputDims = dimsOf(getInput().getType());
  SmallVector<DimExpr> dims = dimsOf(getType());
  SmallVector<DimExpr> weightDims = dimsOf(getWeights().getType());
  int64_t group = getGroup();
  size_t spatial = dims.size() - 2;
  Type element = elementTypeOf(getType());
  Type inputElement = elementTypeOf(getInput().getType());
  Type accumulator = computeType(element);

  // With groups the channel axis is two axes, [group, M/group]: coordinates
  // stay plain, and the split is undone by a reshape, which costs nothing.
  DimExpr perGroup = dims[1].floorDiv(group);
  SmallVector<DimExpr> domain{dims[0]};
  if (group > 1) {
    domain.push_back(DimExpr::constant(getContext(), group));
  }
  domain.push_back(perGroup);
  llvm::append_range(domain, ArrayRef(dims).drop_front(2));

  SmallVector<DimExpr> extents(ArrayRef(weightDims).drop_front(1));
  Value weights = getWeights();
  if (group > 1) {
    SmallVector<DimExpr> split(ArrayRef(domain).slice(1, 2));
    llvm::append_range(split, extents);
    weights = buildReshape(builder, loc, weights, split);
  }
  DimExpr channels = weightDims[1];
  Value sum = buildReduce(
      builder, loc, FoldKind::Add, domain, extents, accumulator,
      [&](BodyBuilder &body, ValueRange at) {
        Value g = group > 1 ? at[1] : Value();
        Value m = group > 1 ? at[2] : at[1];
        ValueRange reduction = at.take_back(1 + spatial);
        ValueRange out = at.drop_back(1 + spatial).take_back(spatial);
        Value c = reduction[0];
        SmallVector<Value> weight{m};
        if (g) {
          c = body.add(body.mul(g, body.size(channels)), c);
          weight = {g, m};
        }
        SmallVector<Value> from{at[0], c};
        SmallVector<Value> window =
            windowCoordinates(body, out, reduction.drop_front(), getStrides(),
                              getDilations(), pads);
        llvm::append_range(from, window);
        llvm::append_range(weight, reduction);
        Value inside = insideWindow(
            body, window, ArrayRef(inputDims).drop_front(2),
            ArrayRef(dims).drop_front(2), ArrayRef(extents).drop_front(),
            getStrides(), getDilations(), pads);
        Value zero = body.constant(scalarType(inputElement), 0);
        Value x = body.widen(body.load(getInput(), from, inside, zero));
        Value w = body.widen(body.load(weights, weight));
        return body.mulOf(x, w);
      },
      group > 1 && channels.isConstant(1) ? "depthwise" : "conv");
  if (group > 1) {
    sum = buildReshape(builder, loc, sum, dims);
  }
  if (!getBias() && accumulator == element) {
    return SmallVector<Value>{sum};
  }
  return SmallVector<Value>{buildMap(
      builder, loc, dims, element, [&](BodyBuilder &body, ValueRange at) {
        Value value = body.load(sum, at);
        if (getBias()) {
          value = body.addOf(value, body.widen(body.load(getBias(), at[1])));
        }
        return body.narrow(value, element);
      })};
}

} // namespace tilewright::tw
