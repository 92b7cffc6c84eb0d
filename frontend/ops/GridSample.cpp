//===- GridSample.cpp - sampling at positions that are data ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"
#include <cmath>

using namespace mlir;

namespace tilewright::frontend {

namespace {

enum class Method { Nearest, Linear, Cubic };
enum class Padding { Zeros, Border, Reflection };

struct Sampler {
  NodeImport &node;
  Method method;
  Padding padding;
  bool alignsCorners;
  Dims dims; // of the input
  Type real;

  /// From [-1, 1] to an element's coordinate along spatial axis `i`.
  Value denormalized(BodyBuilder &b, Value x, size_t i) const;
  /// A position moved inside by the padding mode.
  Value reflected(BodyBuilder &b, Value x, size_t i) const;
  /// The element at whole coordinates (as reals), which may lie outside.
  Value fetch(BodyBuilder &b, Value n, Value c, ArrayRef<Value> position) const;
  Value interpolate(BodyBuilder &b, Value n, Value c,
                    ArrayRef<Value> position) const;
};

} // namespace

static Value sizeOf(BodyBuilder &b, DimExpr size, Type real) {
  return toScalar(b, b.size(size), real);
}

Value Sampler::denormalized(BodyBuilder &b, Value x, size_t i) const {
  Value one = literal(b, x, 1.0), half = literal(b, x, 0.5);
  Value size = sizeOf(b, dims[2 + i], real);
  Value shifted = b.addOf(x, one);
  if (alignsCorners) {
    return b.mulOf(b.mulOf(shifted, half), b.subOf(size, one));
  }
  return b.mulOf(b.subOf(b.mulOf(shifted, size), one), half);
}

Value Sampler::reflected(BodyBuilder &b, Value x, size_t i) const {
  // The borders are at the centres of the outer elements, or at their edges.
  double edge = alignsCorners ? 0.0 : -0.5;
  Value low = literal(b, x, edge);
  Value length = b.subOf(sizeOf(b, dims[2 + i], real),
                         literal(b, x, alignsCorners ? 1.0 : 0.0));
  Value safe = b.select(greater(b, length, literal(b, x, 0.0)), length,
                        literal(b, x, 1.0));
  // Distance from the low border, folded into [0, length] by a triangle wave.
  Value distance = absolute(b, b.subOf(x, low));
  Value periods = b.create<math::FloorOp>(divide(b, distance, safe));
  Value rest = b.subOf(distance, b.mulOf(periods, safe));
  Value halved = b.mulOf(periods, literal(b, x, 0.5));
  Value isEven = b.equalOf(halved, b.create<math::FloorOp>(halved));
  Value folded = b.addOf(low, b.select(isEven, rest, b.subOf(safe, rest)));
  return b.select(greater(b, length, literal(b, x, 0.0)), folded,
                  literal(b, x, 0.0));
}

Value Sampler::fetch(BodyBuilder &b, Value n, Value c,
                     ArrayRef<Value> position) const {
  SmallVector<Value> from{n, c};
  Value guard;
  for (size_t i = 0; i < position.size(); ++i) {
    Value x = padding == Padding::Reflection ? reflected(b, position[i], i)
                                             : position[i];
    if (padding == Padding::Reflection) {
      x = b.create<math::RoundEvenOp>(x);
    }
    Value integer = b.cast(x, real, b.getI64Type());
    Value coordinate =
        b.createOrFold<arith::IndexCastOp>(b.getIndexType(), integer);
    if (padding == Padding::Zeros) {
      guard = b.both(guard, b.inside(coordinate, dims[2 + i]));
    } else {
      coordinate =
          b.max(b.min(coordinate, b.size(dims[2 + i] - 1)), b.index(0));
    }
    from.push_back(coordinate);
  }
  Type element = node.element(0);
  Value zero = b.constant(tw::scalarType(element), 0);
  Value loaded = b.load(node.input(0), from, guard, zero);
  return b.cast(loaded, element, real);
}

/// Weights of the elements around a position whose fraction is `t`.
static SmallVector<Value> weightsOf(BodyBuilder &b, Value t, Method method) {
  auto number = [&](double value) { return literal(b, t, value); };
  Value rest = b.subOf(number(1), t);
  if (method == Method::Linear) {
    return {rest, t};
  }
  // The cubic convolution kernel of Keys with a = -0.75.
  const double a = -0.75;
  auto near = [&](Value x) {
    Value inner = b.subOf(b.mulOf(number(a + 2), x), number(a + 3));
    return b.addOf(b.mulOf(b.mulOf(inner, x), x), number(1));
  };
  auto far = [&](Value x) {
    Value sum = b.subOf(b.mulOf(number(a), x), number(5 * a));
    sum = b.addOf(b.mulOf(sum, x), number(8 * a));
    return b.subOf(b.mulOf(sum, x), number(4 * a));
  };
  return {far(b.addOf(t, number(1))), near(t), near(rest),
          far(b.addOf(rest, number(1)))};
}

Value Sampler::interpolate(BodyBuilder &b, Value n, Value c,
                           ArrayRef<Value> position) const {
  size_t rank = position.size();
  SmallVector<Value> whole;
  SmallVector<SmallVector<Value>> weights;
  for (Value x : position) {
    if (method == Method::Nearest) {
      whole.push_back(b.create<math::RoundEvenOp>(x));
      continue;
    }
    whole.push_back(b.create<math::FloorOp>(x));
    weights.push_back(weightsOf(b, b.subOf(x, whole.back()), method));
  }
  if (method == Method::Nearest) {
    return fetch(b, n, c, whole);
  }
  size_t taps = weights[0].size(), first = method == Method::Cubic ? 1 : 0;
  size_t total = 1;
  for (size_t i = 0; i < rank; ++i) {
    total *= taps;
  }
  Value sum;
  for (size_t k = 0; k < total; ++k) {
    SmallVector<Value> at(rank);
    Value weight;
    size_t rest = k;
    for (size_t i = rank; i-- > 0; rest /= taps) {
      double offset =
          static_cast<double>(rest % taps) - static_cast<double>(first);
      at[i] = b.addOf(whole[i], literal(b, whole[i], offset));
      Value factor = weights[i][rest % taps];
      weight = weight ? b.mulOf(weight, factor) : factor;
    }
    Value term = b.mulOf(weight, fetch(b, n, c, at));
    sum = sum ? b.addOf(sum, term) : term;
  }
  return sum;
}

/// The modes' names changed in opset 20 from bilinear and bicubic.
static std::optional<Method> methodOf(llvm::StringRef text) {
  if (text == "nearest") {
    return Method::Nearest;
  }
  if (text == "linear" || text == "bilinear") {
    return Method::Linear;
  }
  return text == "cubic" || text == "bicubic" ? std::optional(Method::Cubic)
                                              : std::nullopt;
}

static std::optional<Padding> paddingOf(llvm::StringRef text) {
  if (text == "zeros") {
    return Padding::Zeros;
  }
  if (text == "border") {
    return Padding::Border;
  }
  return text == "reflection" ? std::optional(Padding::Reflection)
                              : std::nullopt;
}

static Status importGridSample(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireFloat(node, 1));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 3));
  std::string mode = node.stringAttribute("mode", "linear");
  std::string paddingMode = node.stringAttribute("padding_mode", "zeros");
  std::optional<Method> method = methodOf(mode);
  std::optional<Padding> padding = paddingOf(paddingMode);
  if (!method || !padding) {
    return node.error(ErrorCode::AttributeInvalid, "mode is '" + mode +
                                                       "' and padding_mode '" +
                                                       paddingMode + "'");
  }
  Dims x = node.dims(0), grid = node.dims(1);
  size_t rank = x.size() - 2;
  if (grid.size() != x.size() || !mayBeEqual(grid[0], x[0]) ||
      !mayBeEqual(grid.back(), node.constant(rank))) {
    return node.error(ErrorCode::ShapeMismatch,
                      "a grid of shape " + textOf(grid) +
                          " does not fit the input " + textOf(x));
  }
  if (*method == Method::Cubic && rank != 2) {
    return node.unsupported("mode cubic for " + Twine(rank) + " spatial axes");
  }
  Type element = node.element(0);
  Type real = tw::computeType(node.element(1));
  Sampler sampler{node,     *method,
                  *padding, node.intAttribute("align_corners", 0) != 0,
                  x,        real};
  Dims dims{x[0], x[1]};
  dims.append(grid.begin() + 1, grid.end() - 1);
  node.setOutput(
      0, tw::buildMap(node.builder(), node.loc(), dims, element,
                      [&](BodyBuilder &b, ValueRange at) {
                        SmallVector<Value> position(rank);
                        for (size_t i = 0; i < rank; ++i) {
                          // The grid's last axis is x, y, z: the axes
                          // backwards.
                          SmallVector<Value> from{at[0]};
                          from.append(at.begin() + 2, at.end());
                          from.push_back(b.index(rank - 1 - i));
                          Value g = b.widen(b.load(node.input(1), from));
                          position[i] = sampler.denormalized(b, g, i);
                        }
                        Value y =
                            sampler.interpolate(b, at[0], at[1], position);
                        return b.cast(y, real, element);
                      }));
  return Status::ok();
}

OperatorFamily gridSampleOperators() {
  static const OperatorEntry entries[] = {
      {"", "GridSample", 16, importGridSample},
  };
  return entries;
}

} // namespace tilewright::frontend
