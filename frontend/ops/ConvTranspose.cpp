//===- ConvTranspose.cpp - transposed convolution -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// An element of the result sums the taps k with o + pad - k * dilation a
// multiple of the stride. Without dilation those are k = (o + pad) mod stride,
// then every stride-th one, so that no tap is tried in vain; with dilation all
// taps are tried behind a guard.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Windows.h"

using namespace mlir;

namespace tilewright::frontend {

namespace {

struct Transposed {
  WindowSpec window;
  Dims input, weights;
  int64_t group = 1;
};

} // namespace

/// Sizes of the result and pads, from output_shape, auto_pad or pads.
static Status setOutputSizes(NodeImport &node, Transposed &conv) {
  WindowSpec &window = conv.window;
  size_t spatial = window.rank();
  SmallVector<int64_t> extra = node.intsAttribute("output_padding");
  SmallVector<int64_t> shape = node.intsAttribute("output_shape");
  if (extra.empty()) {
    extra.assign(spatial, 0);
  }
  // Some models write the whole shape.
  if (shape.size() == spatial + 2) {
    shape.erase(shape.begin(), shape.begin() + 2);
  }
  if (extra.size() != spatial || (!shape.empty() && shape.size() != spatial)) {
    return node.error(ErrorCode::AttributeInvalid,
                      "output_padding and output_shape must have " +
                          Twine(spatial) + " entries");
  }
  bool upper = node.stringAttribute("auto_pad", "NOTSET") == "SAME_UPPER";
  Dims begins, ends;
  for (size_t i = 0; i < spatial; ++i) {
    DimExpr full = (conv.input[2 + i] - 1) * window.strides[i] + extra[i] +
                   window.reach(i);
    if (shape.empty() && !window.pads.empty()) {
      begins.push_back(window.pads[i]);
      ends.push_back(window.pads[spatial + i]);
      window.out.push_back(full - begins.back() - ends.back());
      continue;
    }
    window.out.push_back(shape.empty() ? conv.input[2 + i] * window.strides[i]
                                       : node.constant(shape[i]));
    DimExpr total = (full - window.out.back()).max(node.constant(0));
    DimExpr less = total.floorDiv(2), more = total - less;
    begins.push_back(upper ? less : more);
    ends.push_back(upper ? more : less);
  }
  for (DimExpr size : window.out) {
    if (size.getConstant().value_or(0) < 0) {
      return node.error(ErrorCode::ShapeMismatch,
                        "the pads leave a result of negative size, " +
                            textOf(window.out));
    }
  }
  window.pads = begins;
  window.pads.append(ends);
  return Status::ok();
}

static Result<Transposed> describe(NodeImport &node) {
  Transposed conv;
  conv.input = node.dims(0);
  conv.weights = node.dims(1);
  conv.group = node.intAttribute("group", 1);
  if (conv.input.size() < 3 || conv.weights.size() != conv.input.size()) {
    return node.error(ErrorCode::ShapeMismatch,
                      "input " + textOf(conv.input) + " and weights " +
                          textOf(conv.weights) +
                          " must have one rank of 3 or more");
  }
  if (!mayBeEqual(conv.input[1], conv.weights[0]) ||
      conv.input[1].getConstant().value_or(0) % conv.group != 0) {
    return node.error(ErrorCode::ShapeMismatch,
                      "the channels of input " + textOf(conv.input) +
                          " do not fit the weights " + textOf(conv.weights) +
                          " in " + Twine(conv.group) + " groups");
  }
  Result<WindowSpec> window =
      windowAttributes(node, ArrayRef(conv.weights).drop_front(2));
  if (!window) {
    return window.status();
  }
  conv.window = *window;
  TW_RETURN_IF_ERROR(setOutputSizes(node, conv));
  return conv;
}

/// Where along one spatial axis a tap reads: the input's and the kernel's
/// coordinate, and a guard that says whether there is such a tap.
struct Tap {
  Value input, kernel, guard;
};

static Tap tapAt(BodyBuilder &b, const Transposed &conv, size_t i, Value out,
                 Value step) {
  const WindowSpec &window = conv.window;
  Value shifted = b.add(out, b.size(window.pads[i]));
  Value stride = b.index(window.strides[i]);
  Tap tap;
  if (window.dilations[i] == 1) {
    tap.kernel = b.add(b.mod(shifted, stride), b.mul(step, stride));
    tap.input = b.sub(b.floorDiv(shifted, stride), step);
    std::optional<int64_t> size = window.kernel[i].getConstant();
    if (!size || *size % window.strides[i] != 0) {
      tap.guard = b.inside(tap.kernel, window.kernel[i]);
    }
  } else {
    tap.kernel = step;
    Value reached = b.sub(shifted, b.mul(step, window.dilations[i]));
    tap.input = b.floorDiv(reached, stride);
    tap.guard = b.equal(b.mul(tap.input, stride), reached);
  }
  tap.guard = b.both(tap.guard, b.inside(tap.input, conv.input[2 + i]));
  return tap;
}

static Status importConvTranspose(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 3));
  Result<Transposed> conv = describe(node);
  if (!conv) {
    return conv.status();
  }
  const WindowSpec &window = conv->window;
  size_t spatial = window.rank();
  int64_t group = conv->group;
  DimExpr inPerGroup = conv->input[1].floorDiv(group),
          outPerGroup = conv->weights[1];
  Dims domain{conv->input[0], node.constant(group), outPerGroup};
  domain.append(window.out);
  Dims extents{inPerGroup};
  for (size_t i = 0; i < spatial; ++i) {
    extents.push_back(window.dilations[i] == 1
                          ? window.kernel[i].ceilDiv(window.strides[i])
                          : window.kernel[i]);
  }
  Type element = node.element(0);
  Value sum = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add, domain, extents,
      tw::computeType(element),
      [&](BodyBuilder &b, ValueRange at) {
        Value channel =
            b.add(b.mul(at[1], b.size(inPerGroup)), at[3 + spatial]);
        SmallVector<Value> from{at[0], channel}, weight{channel, at[2]};
        Value guard;
        for (size_t i = 0; i < spatial; ++i) {
          Tap tap = tapAt(b, *conv, i, at[3 + i], at[4 + spatial + i]);
          from.push_back(tap.input);
          weight.push_back(tap.kernel);
          guard = b.both(guard, tap.guard);
        }
        Value zero = b.constant(element, 0);
        Value x = b.widen(b.load(node.input(0), from, guard, zero));
        Value w = b.widen(b.load(node.input(1), weight, guard, zero));
        return b.mulOf(x, w);
      },
      "conv_transpose");
  Dims dims{conv->input[0], outPerGroup * group};
  dims.append(window.out);
  sum = tw::buildReshape(node.builder(), node.loc(), sum, dims);
  if (!node.hasInput(2)) {
    node.setOutput(0, castTensor(node, sum, element));
    return Status::ok();
  }
  TW_RETURN_IF_ERROR(requireDims(node, 2, "the bias", dims[1]));
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), dims, element,
                                 [&](BodyBuilder &b, ValueRange at) {
                                   Value bias =
                                       b.widen(b.load(node.input(2), at[1]));
                                   return b.narrow(
                                       b.addOf(b.load(sum, at), bias), element);
                                 }));
  return Status::ok();
}

OperatorFamily convTransposeOperators() {
  static const OperatorEntry entries[] = {
      {"", "ConvTranspose", 1, importConvTranspose},
  };
  return entries;
}

} // namespace tilewright::frontend
