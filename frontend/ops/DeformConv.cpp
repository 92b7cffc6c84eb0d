//===- DeformConv.cpp - convolution at positions that are data ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"
#include "frontend/ops/Windows.h"

using namespace mlir;

namespace tilewright::frontend {

namespace {

struct Deformed {
  NodeImport &node;
  WindowSpec window;
  Dims input, weights;
  int64_t group, offsetGroups;
  Type element, real;

  /// The input at real coordinates, linearly interpolated, zero outside.
  Value sample(BodyBuilder &b, Value n, Value c,
               ArrayRef<Value> position) const;
};

} // namespace

Value Deformed::sample(BodyBuilder &b, Value n, Value c,
                       ArrayRef<Value> position) const {
  size_t rank = position.size();
  SmallVector<Value> whole, fraction;
  for (Value x : position) {
    Value floor = b.create<math::FloorOp>(x);
    fraction.push_back(b.subOf(x, floor));
    whole.push_back(b.createOrFold<arith::IndexCastOp>(
        b.getIndexType(), b.cast(floor, real, b.getI64Type())));
  }
  Value sum;
  for (size_t corner = 0; corner < (size_t(1) << rank); ++corner) {
    SmallVector<Value> from{n, c};
    Value weight, guard;
    for (size_t i = 0; i < rank; ++i) {
      bool next = (corner >> i) & 1;
      Value factor = next ? fraction[i]
                          : b.subOf(literal(b, fraction[i], 1.0), fraction[i]);
      weight = weight ? b.mulOf(weight, factor) : factor;
      from.push_back(next ? b.add(whole[i], 1) : whole[i]);
      guard = b.both(guard, b.inside(from.back(), input[2 + i]));
    }
    Value x =
        b.widen(b.load(node.input(0), from, guard, b.constant(element, 0)));
    Value term = b.mulOf(weight, x);
    sum = sum ? b.addOf(sum, term) : term;
  }
  return sum;
}

static Result<Deformed> describe(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  for (size_t i : {1, 2, 3, 4}) {
    if (node.hasInput(i) && node.element(i) != node.element(0)) {
      return node.error(ErrorCode::TypeMismatch,
                        "all inputs must be " + textOf(node.element(0)));
    }
  }
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 3));
  Dims input = node.dims(0), weights = node.dims(1);
  int64_t group = node.intAttribute("group", 1);
  int64_t offsetGroups = node.intAttribute("offset_group", 1);
  if (weights.size() != input.size() || offsetGroups < 1 ||
      !mayBeEqual(input[1], weights[1] * group) ||
      input[1].getConstant().value_or(0) % offsetGroups != 0) {
    return node.error(ErrorCode::ShapeMismatch,
                      "input " + textOf(input) + " and weights " +
                          textOf(weights) + " do not fit together");
  }
  Result<WindowSpec> window = slidingWindow(node, ArrayRef(input).drop_front(2),
                                            ArrayRef(weights).drop_front(2));
  if (!window) {
    return window.status();
  }
  Type element = node.element(0);
  Deformed conv{node,  *window,      input,   weights,
                group, offsetGroups, element, tw::computeType(element)};
  DimExpr taps = tw::productOf(node.context(), window->kernel);
  Dims offsets{input[0],
               taps * (offsetGroups * static_cast<int64_t>(window->rank()))};
  offsets.append(window->out);
  TW_RETURN_IF_ERROR(requireDims(node, 2, "the offsets", offsets));
  if (node.hasInput(3)) {
    TW_RETURN_IF_ERROR(requireDims(node, 3, "the bias", weights[0]));
  }
  if (node.hasInput(4)) {
    offsets[1] = taps * offsetGroups;
    TW_RETURN_IF_ERROR(requireDims(node, 4, "the mask", offsets));
  }
  return conv;
}

/// Offsets are ordered by offset group, tap, then axis.
static Value product(BodyBuilder &b, const Deformed &conv, ValueRange at) {
  const WindowSpec &window = conv.window;
  NodeImport &node = conv.node;
  size_t spatial = window.rank();
  ValueRange out = at.slice(2, spatial), taps = at.take_back(spatial);
  Value perGroup = b.size(conv.weights[0].floorDiv(conv.group));
  Value channel =
      b.add(b.mul(b.floorDiv(at[1], perGroup), b.size(conv.weights[1])),
            at[2 + spatial]);
  Value offsetGroup =
      b.floorDiv(channel, b.size(conv.input[1].floorDiv(conv.offsetGroups)));
  Value tap = offsetGroup;
  for (size_t i = 0; i < spatial; ++i) {
    tap = b.add(b.mul(tap, b.size(window.kernel[i])), taps[i]);
  }
  auto parameterAt = [&](size_t input, Value position) {
    SmallVector<Value> from{at[0], position};
    from.append(out.begin(), out.end());
    return b.widen(b.load(node.input(input), from));
  };
  SmallVector<Value> position;
  for (size_t i = 0; i < spatial; ++i) {
    Value start =
        b.sub(b.mul(out[i], window.strides[i]), b.size(window.pads[i]));
    Value regular = toScalar(
        b, b.add(start, b.mul(taps[i], window.dilations[i])), conv.real);
    Value offset =
        parameterAt(2, b.add(b.mul(tap, static_cast<int64_t>(spatial)), i));
    position.push_back(b.addOf(regular, offset));
  }
  SmallVector<Value> weight{at[1], at[2 + spatial]};
  weight.append(taps.begin(), taps.end());
  Value x = conv.sample(b, at[0], channel, position);
  if (node.hasInput(4)) {
    x = b.mulOf(x, parameterAt(4, tap));
  }
  return b.mulOf(x, b.widen(b.load(node.input(1), weight)));
}

static Status importDeformConv(NodeImport &node) {
  Result<Deformed> conv = describe(node);
  if (!conv) {
    return conv.status();
  }
  Dims dims{conv->input[0], conv->weights[0]};
  dims.append(conv->window.out);
  Value sum = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add, dims,
      ArrayRef(conv->weights).drop_front(), conv->real,
      [&](BodyBuilder &b, ValueRange at) { return product(b, *conv, at); });
  if (!node.hasInput(3)) {
    node.setOutput(0, castTensor(node, sum, conv->element));
    return Status::ok();
  }
  node.setOutput(
      0, tw::buildMap(node.builder(), node.loc(), dims, conv->element,
                      [&](BodyBuilder &b, ValueRange at) {
                        Value bias = b.widen(b.load(node.input(3), at[1]));
                        return b.narrow(b.addOf(b.load(sum, at), bias),
                                        conv->element);
                      }));
  return Status::ok();
}

OperatorFamily deformConvOperators() {
  static const OperatorEntry entries[] = {
      {"", "DeformConv", 19, importDeformConv},
  };
  return entries;
}

} // namespace tilewright::frontend
