//===- Sampling.cpp - how Resize samples along one axis -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Sampling.h"
#include "frontend/ops/Scalars.h"
#include <cmath>

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

static Value real(BodyBuilder &b, double value) {
  return b.constant(b.getF64Type(), value);
}
static Value real(BodyBuilder &b, Value index) {
  return toScalar(b, index, b.getF64Type());
}
static Value real(BodyBuilder &b, DimExpr size) {
  return real(b, b.size(size));
}
/// An f64 that holds a whole number as a coordinate.
static Value toIndex(BodyBuilder &b, Value whole) {
  Value integer = b.cast(whole, b.getF64Type(), b.getI64Type());
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), integer);
}

Value ResizedAxis::scale(BodyBuilder &b) const {
  if (knownScale) {
    return real(b, *knownScale);
  }
  if (scales) {
    SmallVector<Value> at;
    if (tw::dimsOf(scales.getType()).size() == 1) {
      at.push_back(b.index(scaleElement));
    }
    return b.cast(b.load(scales, at), tw::elementTypeOf(scales.getType()),
                  b.getF64Type());
  }
  return divide(b, real(b, out), real(b, in));
}

Value ResizedAxis::position(BodyBuilder &b, Value at,
                            const ResizeMode &mode) const {
  Value x = real(b, at), half = real(b, 0.5);
  auto halfPixel = [&] {
    return b.subOf(divide(b, b.addOf(x, half), scale(b)), half);
  };
  // The size before it was rounded down to a whole number.
  auto exactSize = [&] {
    return knownScale || scales ? b.mulOf(scale(b), real(b, in)) : real(b, out);
  };
  auto last = [&] { return real(b, in - 1); };
  auto unlessOne = [&](Value ifMany, Value ifOne) {
    return b.select(b.equal(b.size(out), b.index(1)), ifOne, ifMany);
  };
  switch (mode.coordinates) {
  case CoordinateMode::HalfPixel:
    return halfPixel();
  case CoordinateMode::HalfPixelSymmetric: {
    Value adjustment = divide(b, real(b, out), exactSize());
    Value center = b.mulOf(real(b, in), half);
    Value offset = b.mulOf(center, b.subOf(real(b, 1.0), adjustment));
    return b.addOf(offset, halfPixel());
  }
  case CoordinateMode::PytorchHalfPixel:
    return unlessOne(halfPixel(), real(b, 0.0));
  case CoordinateMode::AlignCorners: {
    Value step = divide(b, last(), b.subOf(exactSize(), real(b, 1.0)));
    return unlessOne(b.mulOf(x, step), real(b, 0.0));
  }
  case CoordinateMode::Asymmetric:
    return divide(b, x, scale(b));
  case CoordinateMode::TfHalfPixelForNearest:
    return divide(b, b.addOf(x, half), scale(b));
  case CoordinateMode::TfCropAndResize:
    break;
  }
  auto bound = [&](int64_t element) {
    return b.cast(b.load(roi, b.index(element)),
                  tw::elementTypeOf(roi.getType()), b.getF64Type());
  };
  Value begin = bound(roiBegin), end = bound(roiEnd);
  Value step = divide(b, b.mulOf(b.subOf(end, begin), last()),
                      b.subOf(exactSize(), real(b, 1.0)));
  Value many = b.addOf(b.mulOf(begin, last()), b.mulOf(x, step));
  return unlessOne(many, b.mulOf(b.mulOf(half, b.addOf(begin, end)), last()));
}

Value ResizedAxis::isOutside(BodyBuilder &b, Value position) const {
  return b.create<arith::OrIOp>(lower(b, position, real(b, 0.0)),
                                greater(b, position, real(b, in - 1)));
}

Value ResizedAxis::clamped(BodyBuilder &b, Value coordinate) const {
  return b.max(b.min(coordinate, b.size(in - 1)), b.index(0));
}

Value ResizedAxis::nearest(BodyBuilder &b, Value at,
                           const ResizeMode &mode) const {
  if (std::optional<int64_t> factor = repeats(mode)) {
    return b.floorDiv(at, b.index(*factor));
  }
  Value x = position(b, at, mode), half = real(b, 0.5);
  Value whole;
  switch (mode.nearest) {
  case NearestMode::RoundPreferFloor:
    whole = b.create<math::CeilOp>(b.subOf(x, half));
    break;
  case NearestMode::RoundPreferCeil:
    whole = b.create<math::FloorOp>(b.addOf(x, half));
    break;
  case NearestMode::Floor:
    whole = b.create<math::FloorOp>(x);
    break;
  case NearestMode::Ceil:
    whole = b.create<math::CeilOp>(x);
    break;
  }
  return clamped(b, toIndex(b, whole));
}

std::optional<int64_t> ResizedAxis::repeats(const ResizeMode &mode) const {
  // Element i samples at i / factor, or between i / factor - 1/2 and + 1/2.
  bool samples = false;
  switch (mode.coordinates) {
  case CoordinateMode::HalfPixel:
    samples = mode.nearest == NearestMode::RoundPreferFloor ||
              mode.nearest == NearestMode::RoundPreferCeil;
    break;
  case CoordinateMode::Asymmetric:
  case CoordinateMode::TfHalfPixelForNearest:
    samples = mode.nearest == NearestMode::Floor;
    break;
  default:
    break;
  }
  std::optional<double> factor = knownScale;
  if (!factor && !scales) {
    std::optional<DimExpr> quotient = out.exactDiv(in);
    std::optional<int64_t> known =
        quotient ? quotient->getConstant() : std::nullopt;
    factor = known ? std::optional<double>(*known) : std::nullopt;
  }
  if (!samples || !factor || *factor < 1 || *factor != std::floor(*factor) ||
      *factor > 1 << 20) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*factor);
}

bool ResizedAxis::isIdentity(const ResizeMode &mode) const {
  bool keepsSize = knownScale ? *knownScale == 1.0 : !scales && in == out;
  return keepsSize && mode.coordinates != CoordinateMode::TfCropAndResize &&
         mode.coordinates != CoordinateMode::TfHalfPixelForNearest;
}

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

/// The weight of an element at distance |x| from the position: a triangle, or
/// the cubic convolution kernel of Keys with coefficient `a`.
static Value filter(BodyBuilder &b, Value x, const ResizeMode &mode) {
  x = absolute(b, x);
  auto number = [&](double value) { return literal(b, x, value); };
  if (mode.interpolation == Interpolation::Linear) {
    return b.create<arith::MaximumFOp>(b.subOf(number(1), x), number(0));
  }
  double a = mode.cubicCoefficient;
  auto times = [&](Value sum, double next) {
    return b.addOf(b.mulOf(sum, x), number(next));
  };
  Value near =
      times(b.mulOf(b.subOf(b.mulOf(number(a + 2), x), number(a + 3)), x), 1);
  Value far = times(times(times(number(a), -5 * a), 8 * a), -4 * a);
  Value outer = b.select(lower(b, x, number(2)), far, number(0));
  return b.select(greater(b, x, number(1)), outer, near);
}

namespace {

/// The taps around one position: elements floor(position) + k for k from
/// `first` on, `count` of them.
struct Taps {
  DimExpr first, count;
};

} // namespace

static Taps tapsOf(const ResizedAxis &axis, const ResizeMode &mode) {
  int64_t support = mode.interpolation == Interpolation::Cubic ? 2 : 1;
  DimExpr one = DimExpr::constant(axis.in.getContext(), 1);
  DimExpr half = one * support;
  if (mode.antialias) {
    half = (axis.in * support).ceilDiv(axis.out.max(one)).max(half);
  }
  return {one - half, half * 2};
}

Value resample(NodeImport &node, Value tensor, const ResizedAxis &axis,
               const ResizeMode &mode) {
  Dims dims = tw::dimsOf(tensor.getType());
  dims[axis.axis] = axis.out;
  Type type = tw::elementTypeOf(tensor.getType());
  Taps taps = tapsOf(axis, mode);
  // Weight and element of tap k; `weight` alone where `value` is not wanted.
  auto tap = [&](BodyBuilder &b, ValueRange at, Value k, bool wantsValue) {
    Value position = axis.position(b, at[axis.axis], mode);
    Value start = b.create<math::FloorOp>(position);
    Value offset = b.add(k, b.size(taps.first));
    Value distance = b.subOf(real(b, offset), b.subOf(position, start));
    if (mode.antialias) {
      Value shrink = b.create<arith::MinimumFOp>(axis.scale(b), real(b, 1.0));
      distance = b.mulOf(distance, shrink);
    }
    Value weight = filter(b, b.cast(distance, b.getF64Type(), type), mode);
    Value element = b.add(toIndex(b, start), offset);
    if (mode.excludesOutside) {
      weight =
          b.select(b.inside(element, axis.in), weight, literal(b, weight, 0.0));
    }
    if (!wantsValue) {
      return weight;
    }
    SmallVector<Value> from(at.take_front(dims.size()));
    from[axis.axis] = axis.clamped(b, element);
    return b.mulOf(weight, b.load(tensor, from));
  };
  auto extrapolated = [&](BodyBuilder &b, ValueRange at, Value value) {
    if (mode.coordinates != CoordinateMode::TfCropAndResize) {
      return value;
    }
    Value outside = axis.isOutside(b, axis.position(b, at[axis.axis], mode));
    return b.select(outside, literal(b, value, mode.extrapolation), value);
  };

  bool normalizes = mode.antialias || mode.excludesOutside;
  if (!normalizes) {
    // Few taps: one map with all of them.
    return tw::buildMap(node.builder(), node.loc(), dims, type,
                        [&](BodyBuilder &b, ValueRange at) {
                          Value sum = tap(b, at, b.index(0), true);
                          for (int64_t k = 1; k < *taps.count.getConstant();
                               ++k) {
                            sum = b.addOf(sum, tap(b, at, b.index(k), true));
                          }
                          return extrapolated(b, at, sum);
                        });
  }
  auto sumOf = [&](bool wantsValue) {
    return tw::buildReduce(
        node.builder(), node.loc(), FoldKind::Add, dims, taps.count, type,
        [&](BodyBuilder &b, ValueRange at) {
          return tap(b, at.drop_back(), at.back(), wantsValue);
        });
  };
  Value sum = sumOf(true), weights = sumOf(false);
  return tw::buildMap(node.builder(), node.loc(), dims, type,
                      [&](BodyBuilder &b, ValueRange at) {
                        return extrapolated(
                            b, at,
                            divide(b, b.load(sum, at), b.load(weights, at)));
                      });
}

} // namespace tilewright::frontend
