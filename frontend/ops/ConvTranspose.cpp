//===- ConvTranspose.cpp - transposed convolution -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// An element of the result sums the taps k with o + pad - k * dilation a
// multiple of the stride. With dilation all taps are tried behind a guard.
// Without, the result is computed by phases: o = q * stride + r has the taps
// (r + pad) mod stride, then every stride-th one. The weights are sorted by
// phase, and each phase is an ordinary convolution of the input.
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

/// Where along one spatial axis a tap reads: the input's coordinate, and a
/// guard that says whether there is such a tap.
struct Tap {
  Value input, guard;
};

static Tap tapAt(BodyBuilder &b, const Transposed &conv, size_t i, Value out,
                 Value kernel) {
  const WindowSpec &window = conv.window;
  Value stride = b.index(window.strides[i]);
  Value reached = b.sub(b.add(out, b.size(window.pads[i])),
                        b.mul(kernel, window.dilations[i]));
  Tap tap;
  tap.input = b.floorDiv(reached, stride);
  tap.guard = b.both(b.equal(b.mul(tap.input, stride), reached),
                     b.inside(tap.input, conv.input[2 + i]));
  return tap;
}

/// The product of an input element and a weight.
static Value product(BodyBuilder &b, NodeImport &node, ArrayRef<Value> from,
                     Value weights, ArrayRef<Value> weight, Value guard) {
  Type type = tw::scalarType(node.element(0));
  Value x = b.load(node.input(0), from, guard, b.constant(type, 0));
  return b.mulOf(b.widen(x), b.widen(b.load(weights, weight)));
}

/// Every tap tried. \returns [N, group, M / group, out …].
static Value sumOfAllTaps(NodeImport &node, const Transposed &conv) {
  size_t spatial = conv.window.rank();
  DimExpr inPerGroup = conv.input[1].floorDiv(conv.group);
  Dims domain{conv.input[0], node.constant(conv.group), conv.weights[1]};
  domain.append(conv.window.out);
  Dims extents{inPerGroup};
  extents.append(conv.window.kernel);
  return tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add, domain, extents,
      tw::computeType(node.element(0)),
      [&](BodyBuilder &b, ValueRange at) {
        Value channel =
            b.add(b.mul(at[1], b.size(inPerGroup)), at[3 + spatial]);
        SmallVector<Value> from{at[0], channel}, weight{channel, at[2]};
        Value guard;
        for (size_t i = 0; i < spatial; ++i) {
          Value kernel = at[4 + spatial + i];
          Tap tap = tapAt(b, conv, i, at[3 + i], kernel);
          from.push_back(tap.input);
          weight.push_back(kernel);
          guard = b.both(guard, tap.guard);
        }
        return product(b, node, from, node.input(1), weight, guard);
      },
      "conv_transpose");
}

/// The weights by phase: [group, C / group, M / group, stride …, taps …], zero
/// where a phase has fewer taps than another.
static Value weightsByPhase(NodeImport &node, const Transposed &conv,
                            ArrayRef<int64_t> pads, ArrayRef<DimExpr> taps) {
  const WindowSpec &window = conv.window;
  size_t spatial = window.rank();
  DimExpr inPerGroup = conv.input[1].floorDiv(conv.group);
  Dims dims{node.constant(conv.group), inPerGroup, conv.weights[1]};
  for (int64_t stride : window.strides) {
    dims.push_back(node.constant(stride));
  }
  dims.append(taps.begin(), taps.end());
  Type element = tw::elementTypeOf(node.input(1).getType());
  return tw::buildMap(
      node.builder(), node.loc(), dims, element,
      [&](BodyBuilder &b, ValueRange at) {
        Value channel = b.add(b.mul(at[0], b.size(inPerGroup)), at[1]);
        SmallVector<Value> from{channel, at[2]};
        Value guard;
        for (size_t i = 0; i < spatial; ++i) {
          Value stride = b.index(window.strides[i]);
          Value first = b.mod(b.add(at[3 + i], pads[i]), stride);
          from.push_back(b.add(first, b.mul(at[3 + spatial + i], stride)));
          guard = b.both(guard, b.inside(from.back(), window.kernel[i]));
        }
        return b.load(node.input(1), from, guard,
                      b.constant(tw::scalarType(element), 0));
      },
      "phases");
}

/// \returns [N, group, M / group, out …] as a convolution for each phase.
static Value sumByPhase(NodeImport &node, const Transposed &conv,
                        ArrayRef<int64_t> pads) {
  const WindowSpec &window = conv.window;
  size_t spatial = window.rank();
  DimExpr inPerGroup = conv.input[1].floorDiv(conv.group);
  Dims domain{conv.input[0], node.constant(conv.group), conv.weights[1]};
  Dims padded(domain), exact(domain), extents{inPerGroup};
  for (size_t i = 0; i < spatial; ++i) {
    int64_t stride = window.strides[i];
    DimExpr steps = window.out[i].ceilDiv(stride);
    domain.append({steps, node.constant(stride)});
    padded.push_back(steps * stride);
    extents.push_back(window.kernel[i].ceilDiv(stride));
  }
  exact.append(window.out);
  Value weights =
      weightsByPhase(node, conv, pads, ArrayRef(extents).drop_front());
  Value sum = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add, domain, extents,
      tw::computeType(node.element(0)),
      [&](BodyBuilder &b, ValueRange at) {
        ValueRange reduction = at.take_back(1 + spatial);
        Value channel = b.add(b.mul(at[1], b.size(inPerGroup)), reduction[0]);
        SmallVector<Value> from{at[0], channel};
        SmallVector<Value> weight{at[1], reduction[0], at[2]};
        Value guard;
        for (size_t i = 0; i < spatial; ++i) {
          int64_t stride = window.strides[i], rest = pads[i] % stride;
          Value step = at[3 + 2 * i], phase = at[4 + 2 * i];
          weight.push_back(phase);
          Value first = b.add(step, pads[i] / stride);
          if (rest != 0) {
            first =
                b.add(first, b.floorDiv(b.add(phase, rest), b.index(stride)));
          }
          from.push_back(b.sub(first, reduction[1 + i]));
          guard = b.both(guard, b.inside(from.back(), conv.input[2 + i]));
        }
        llvm::append_range(weight, reduction.drop_front());
        return product(b, node, from, weights, weight, guard);
      },
      "conv_transpose");
  sum = tw::buildReshape(node.builder(), node.loc(), sum, padded);
  if (padded == exact) {
    return sum;
  }
  return tw::buildMap(
      node.builder(), node.loc(), exact, tw::elementTypeOf(sum.getType()),
      [&](BodyBuilder &b, ValueRange at) { return b.load(sum, at); });
}

/// The pads in front when phases can be told apart at compile time.
static std::optional<SmallVector<int64_t>> phasePads(const Transposed &conv) {
  const WindowSpec &window = conv.window;
  SmallVector<int64_t> pads;
  for (size_t i = 0; i < window.rank(); ++i) {
    std::optional<int64_t> pad = window.pads[i].getConstant();
    if (!pad || *pad < 0 || window.dilations[i] != 1) {
      return std::nullopt;
    }
    pads.push_back(*pad);
  }
  return pads;
}

static Status importConvTranspose(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 3));
  Result<Transposed> conv = describe(node);
  if (!conv) {
    return conv.status();
  }
  std::optional<SmallVector<int64_t>> pads = phasePads(*conv);
  Value sum = pads ? sumByPhase(node, *conv, *pads) : sumOfAllTaps(node, *conv);
  Type element = node.element(0);
  Dims dims{conv->input[0], conv->weights[1] * conv->group};
  dims.append(conv->window.out);
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
