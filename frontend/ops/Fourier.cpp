//===- Fourier.cpp - discrete Fourier transforms --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Transforms are sums by their definition, in f64. Tables of cosines and sines
// are computed once per transform; the angle's index is taken modulo the
// length, so that it stays exact.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

/// [length, 2]: cosine and sine of 2 pi k / length.
static Value circle(NodeImport &node, DimExpr length, Type real) {
  return tw::buildMap(
      node.builder(), node.loc(), {length, node.constant(2)}, real,
      [&](BodyBuilder &b, ValueRange at) -> Value {
        Value turn = divide(b, toScalar(b, at[0], real),
                            toScalar(b, b.size(length), real));
        Value angle = b.mulOf(turn, b.constant(real, 6.283185307179586477));
        Value cosine = b.create<math::CosOp>(angle);
        Value sine = b.create<math::SinOp>(angle);
        return b.select(b.equal(at[1], b.index(0)), cosine, sine);
      });
}

namespace {

/// A transform of a signal whose last axis holds real and imaginary parts.
struct Transform {
  DimExpr length; // of the transform
  bool isInverse = false;
  Value table; // of circle()

  /// Part `part` (0 real, 1 imaginary) of (re + i im) · exp(∓2 pi i n k /
  /// length).
  Value product(BodyBuilder &b, Value re, Value im, Value n, Value k,
                Value part) const {
    Value step = b.mod(b.mul(n, k), b.size(length));
    Value cosine = b.load(table, {step, b.index(0)});
    Value sine = b.load(table, {step, b.index(1)});
    if (!isInverse) {
      sine = b.create<arith::NegFOp>(sine);
    }
    Value real = b.subOf(b.mulOf(re, cosine), b.mulOf(im, sine));
    Value imaginary = b.addOf(b.mulOf(re, sine), b.mulOf(im, cosine));
    return b.select(b.equal(part, b.index(0)), real, imaginary);
  }
};

/// The signal of a DFT: elements beyond its end are zero, and a one-sided one
/// is continued by its conjugate.
struct Signal {
  NodeImport &node;
  int64_t axis;
  bool isComplex;
  bool isOneSided; // input of an inverse transform
  DimExpr length;

  /// Part `part` of element n of the row at `at`.
  Value load(BodyBuilder &b, ValueRange at, Value n, int64_t part) const {
    Type element = node.element(0);
    Type real = b.getF64Type();
    if (part == 1 && !isComplex) {
      return b.constant(real, 0);
    }
    DimExpr size = node.dims(0)[axis];
    Value source = n, mirrored;
    if (isOneSided) {
      mirrored = b.less(b.size(size - 1), n);
      source = b.select(mirrored, b.sub(b.size(length), n), n);
    }
    SmallVector<Value> from(at);
    from[axis] = source;
    from.back() = b.index(part);
    Value x = b.load(node.input(0), from, b.inside(source, size),
                     b.constant(element, 0));
    x = b.cast(x, element, real);
    return part == 1 && mirrored
               ? b.select(mirrored, b.create<arith::NegFOp>(x), x)
               : x;
  }
};

} // namespace

/// The transform along one axis.
static Result<Value> transform(NodeImport &node, int64_t axis,
                               std::optional<DimExpr> wanted) {
  Dims dims = node.dims(0);
  bool isInverse = node.intAttribute("inverse", 0) != 0;
  bool isOneSided = node.intAttribute("onesided", 0) != 0;
  bool isComplex = !dims.back().isConstant(1);
  if (isOneSided && !isInverse && isComplex) {
    return node.error(ErrorCode::ShapeMismatch, "onesided needs a real signal");
  }
  bool fromHalf = isOneSided && isInverse;
  DimExpr length =
      wanted.value_or(fromHalf ? (dims[axis] - 1) * 2 : dims[axis]);
  Type element = node.element(0), real = node.builder().getF64Type();
  Transform dft{length, isInverse, circle(node, length, real)};
  Signal signal{node, axis, isComplex, fromHalf, length};
  dims[axis] = isOneSided && !isInverse ? length.floorDiv(2) + 1 : length;
  dims.back() = node.constant(fromHalf ? 1 : 2);
  size_t rank = dims.size();
  Value sum =
      tw::buildReduce(node.builder(), node.loc(), FoldKind::Add, dims, length,
                      real, [&](BodyBuilder &b, ValueRange at) {
                        ValueRange row = at.take_front(rank);
                        Value n = at.back();
                        Value re = signal.load(b, row, n, 0);
                        Value im = signal.load(b, row, n, 1);
                        return dft.product(b, re, im, n, row[axis], row.back());
                      });
  return tw::buildMap(node.builder(), node.loc(), dims, element,
                      [&](BodyBuilder &b, ValueRange at) {
                        Value x = b.load(sum, at);
                        if (isInverse) {
                          x = divide(b, x, toScalar(b, b.size(length), real));
                        }
                        return b.cast(x, real, element);
                      });
}

/// A transform along an axis that is data: all of them, of which one is taken.
/// They must not differ in shape.
static Status importAnyAxis(NodeImport &node, std::optional<DimExpr> length) {
  int64_t rank = node.rank(0);
  if (length || node.intAttribute("onesided", 0) != 0) {
    return node.unsupported(
        "an axis that is not known at compile time, together with dft_length "
        "or onesided");
  }
  Value chosen;
  for (int64_t axis = 0; axis + 1 < rank; ++axis) {
    Result<Value> next = transform(node, axis, length);
    if (!next) {
      return next.status();
    }
    if (!chosen) {
      chosen = *next;
      continue;
    }
    Type element = node.element(0), i64 = node.builder().getI64Type();
    chosen = tw::buildMap(
        node.builder(), node.loc(), tw::dimsOf(next->getType()), element,
        [&](BodyBuilder &b, ValueRange at) {
          SmallVector<Value> first(node.rank(2), b.index(0));
          Value wanted =
              b.cast(b.load(node.input(2), first), node.element(2), i64);
          Value isThis = b.create<arith::OrIOp>(
              b.equalOf(wanted, b.integer(i64, axis)),
              b.equalOf(wanted, b.integer(i64, axis - rank)));
          return b.select(isThis, b.load(*next, at), b.load(chosen, at));
        });
  }
  node.setOutput(0, chosen);
  return Status::ok();
}

/// The axis: an attribute in opset 17, input 2 from 20 on.
static Status importDft(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
  int64_t rank = node.rank(0);
  std::optional<DimExpr> length;
  if (node.hasInput(1)) {
    Result<Dims> read = node.elementsOrRead(1, /*minimum=*/1);
    if (!read) {
      return read.status();
    }
    if (read->size() != 1) {
      return node.error(ErrorCode::ShapeMismatch,
                        "dft_length must be one number");
    }
    length = read->front();
  }
  int64_t number = node.version() < 20 ? node.intAttribute("axis", 1) : -2;
  if (node.hasInput(2)) {
    TW_RETURN_IF_ERROR(requireInteger(node, 2));
    std::optional<SmallVector<int64_t>> known = node.constantElements(2);
    if (!known) {
      return importAnyAxis(node, length);
    }
    if (known->size() != 1) {
      return node.error(ErrorCode::ShapeMismatch, "axis must be one number");
    }
    number = known->front();
  }
  Result<int64_t> axis = node.normalizeAxis(number, rank);
  if (!axis) {
    return axis.status();
  }
  if (*axis == rank - 1) {
    return node.error(
        ErrorCode::AttributeInvalid,
        "axis names the last axis, which holds real and imaginary parts");
  }
  Result<Value> result = transform(node, *axis, length);
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// STFT
//===----------------------------------------------------------------------===//

/// A scalar integer input as a size.
static Result<DimExpr> scalarSize(NodeImport &node, size_t i) {
  Result<Dims> read = node.elementsOrRead(i, /*minimum=*/1);
  if (!read) {
    return read.status();
  }
  if (read->size() != 1) {
    return node.error(ErrorCode::ShapeMismatch,
                      "input " + Twine(i) + " must be one number");
  }
  return read->front();
}

/// Inputs: signal [batch, length, 1 or 2], frame_step, window, frame_length.
static Status importStft(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRank(node, 0, 3));
  bool isOneSided = node.intAttribute("onesided", 1) != 0;
  Dims dims = node.dims(0);
  bool isComplex = !dims[2].isConstant(1);
  if (isOneSided && isComplex) {
    return node.error(ErrorCode::ShapeMismatch, "onesided needs a real signal");
  }
  Result<DimExpr> step = scalarSize(node, 1);
  if (!step) {
    return step.status();
  }
  DimExpr length;
  if (node.hasInput(3)) {
    Result<DimExpr> read = scalarSize(node, 3);
    if (!read) {
      return read.status();
    }
    length = *read;
  }
  if (node.hasInput(2)) {
    TW_RETURN_IF_ERROR(requireFloat(node, 2));
    TW_RETURN_IF_ERROR(requireRank(node, 2, 1));
    length = node.dims(2)[0];
  }
  if (!length) {
    return node.error(ErrorCode::ModelInvalid,
                      "neither window nor frame_length is given");
  }
  DimExpr frames = (dims[1] - length).floorDiv(*step) + 1;
  DimExpr bins = isOneSided ? length.floorDiv(2) + 1 : length;
  Type element = node.element(0), real = node.builder().getF64Type();
  Transform dft{length, /*isInverse=*/false, circle(node, length, real)};
  Value sum = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add,
      {dims[0], frames, bins, node.constant(2)}, length, real,
      [&](BodyBuilder &b, ValueRange at) {
        Value n = at[4];
        Value position = b.add(b.mul(at[1], b.size(*step)), n);
        auto part = [&](int64_t i) -> Value {
          if (i == 1 && !isComplex) {
            return b.constant(real, 0);
          }
          Value x = b.cast(b.load(node.input(0), {at[0], position, b.index(i)}),
                           element, real);
          if (!node.hasInput(2)) {
            return x;
          }
          return b.mulOf(
              x, b.cast(b.load(node.input(2), n), node.element(2), real));
        };
        return dft.product(b, part(0), part(1), n, at[2], at[3]);
      });
  node.setOutput(0, castTensor(node, sum, element));
  return Status::ok();
}

OperatorFamily fourierOperators() {
  static const OperatorEntry entries[] = {
      {"", "DFT", 17, importDft},
      {"", "STFT", 17, importStft},
  };
  return entries;
}

} // namespace tilewright::frontend
