//===- Pool.cpp - pooling -------------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Axes.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Ordering.h"
#include "frontend/ops/Scalars.h"
#include "frontend/ops/Windows.h"
#include <cmath>

using namespace mlir;

namespace tilewright::frontend {

static Result<WindowSpec> poolWindow(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 3));
  Result<Dims> kernel = kernelShape(node, node.rank(0) - 2);
  if (!kernel) {
    return kernel.status();
  }
  Dims dims = node.dims(0);
  return slidingWindow(node, ArrayRef(dims).drop_front(2), *kernel,
                       node.intAttribute("ceil_mode", 0) != 0);
}

static Dims pooledDims(NodeImport &node, const WindowSpec &window) {
  Dims input = node.dims(0), dims{input[0], input[1]};
  dims.append(window.out);
  return dims;
}

static Value pool(NodeImport &node, const WindowSpec &window, tw::PoolKind kind,
                  bool countPadding, int64_t p) {
  SmallVector<int64_t> kernel;
  for (DimExpr size : window.kernel) {
    kernel.push_back(*size.getConstant());
  }
  Type type = tw::tensorType(pooledDims(node, window), node.element(0));
  return tw::PoolOp::create(
      node.builder(), node.loc(), type, node.input(0), kind, kernel,
      window.strides, tw::DimsAttr::get(node.context(), window.pads),
      window.dilations, countPadding, static_cast<uint64_t>(p));
}

//===----------------------------------------------------------------------===//
// MaxPool
//===----------------------------------------------------------------------===//

/// The value that no element is less than, of an element's scalar type.
static Value leastScalar(BodyBuilder &b, Type element) {
  Type type = tw::scalarType(element);
  if (isFloat(element)) {
    return b.constant(type, -HUGE_VAL);
  }
  unsigned width = cast<IntegerType>(type).getWidth();
  APInt least = tw::isUnsigned(element) ? APInt::getZero(width)
                                        : APInt::getSignedMinValue(width);
  return b.integer(type, least.getSExtValue());
}

/// The position of each window's greatest element in the whole input, counted
/// in row-major order, or with the spatial axes in column-major order.
static Value maxPositions(NodeImport &node, const WindowSpec &window,
                          bool columnMajor) {
  Dims input = node.dims(0), dims = pooledDims(node, window);
  size_t spatial = window.rank();
  Type element = node.element(0), i64 = node.builder().getI64Type();
  auto positionOf = [&](BodyBuilder &b, size_t i, Value out, Value tap) {
    Value start = b.sub(b.mul(out, window.strides[i]), b.size(window.pads[i]));
    return b.add(start, b.mul(tap, window.dilations[i]));
  };
  Value taps = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::ArgMax, dims, window.kernel, i64,
      [&](BodyBuilder &b, ValueRange at) {
        SmallVector<Value> from{at[0], at[1]};
        Value guard;
        for (size_t i = 0; i < spatial; ++i) {
          from.push_back(positionOf(b, i, at[2 + i], at[2 + spatial + i]));
          guard = b.both(guard, b.inside(from.back(), input[2 + i]));
        }
        return orderedScalar(
            b, b.load(node.input(0), from, guard, leastScalar(b, element)),
            element);
      });
  return tw::buildMap(
      node.builder(), node.loc(), dims, i64,
      [&](BodyBuilder &b, ValueRange at) -> Value {
        Value rest = b.createOrFold<arith::IndexCastOp>(b.getIndexType(),
                                                        b.load(taps, at));
        SmallVector<Value> position(spatial);
        for (size_t i = spatial; i-- > 0;) {
          Value size = b.size(window.kernel[i]);
          // Padding wins where all elements are as small as can be: stay
          // inside.
          Value found = positionOf(b, i, at[2 + i], b.mod(rest, size));
          position[i] =
              b.max(b.min(found, b.size(input[2 + i] - 1)), b.index(0));
          rest = b.floorDiv(rest, size);
        }
        Value plane = b.add(b.mul(at[0], b.size(input[1])), at[1]);
        Value flat =
            b.mul(plane, b.size(tw::productOf(node.context(),
                                              ArrayRef(input).drop_front(2))));
        Value inPlane = b.index(0);
        for (size_t k = 0; k < spatial; ++k) {
          size_t i = columnMajor ? spatial - 1 - k : k;
          inPlane = b.add(b.mul(inPlane, b.size(input[2 + i])), position[i]);
        }
        return b.createOrFold<arith::IndexCastOp>(i64, b.add(flat, inPlane));
      });
}

static Status importMaxPool(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  Result<WindowSpec> window = poolWindow(node);
  if (!window) {
    return window.status();
  }
  node.setOutput(0, pool(node, *window, tw::PoolKind::Max, false, 2));
  if (node.wantsOutput(1)) {
    node.setOutput(1, maxPositions(node, *window,
                                   node.intAttribute("storage_order", 0) != 0));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Average and norm
//===----------------------------------------------------------------------===//

static Status importAveragePool(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  Result<WindowSpec> window = poolWindow(node);
  if (!window) {
    return window.status();
  }
  bool countPadding = node.intAttribute("count_include_pad", 0) != 0;
  node.setOutput(0,
                 pool(node, *window, tw::PoolKind::Average, countPadding, 2));
  return Status::ok();
}

static Result<int64_t> normOrder(NodeImport &node) {
  int64_t p = node.intAttribute("p", 2);
  if (p < 1) {
    return node.error(ErrorCode::AttributeInvalid,
                      "p must be 1 or more, not " + Twine(p));
  }
  return p;
}

static Status importLpPool(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  Result<WindowSpec> window = poolWindow(node);
  Result<int64_t> p = normOrder(node);
  if (!window || !p) {
    return !window ? window.status() : p.status();
  }
  node.setOutput(0, pool(node, *window, tw::PoolKind::Lp, false, *p));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Global pools
//===----------------------------------------------------------------------===//

/// Folds all spatial axes, which stay with size one.
static Status importGlobal(
    NodeImport &node, FoldKind kind,
    llvm::function_ref<Value(BodyBuilder &, Value)> before,
    llvm::function_ref<Value(BodyBuilder &, Value, Value count)> after) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
  ReducedAxes axes =
      reducedAxes(node, llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0))),
                  /*keepDims=*/true);
  Type element = node.element(0), real = tw::computeType(element);
  DimExpr count = axes.count(node.context());
  Value folded =
      tw::buildReduce(node.builder(), node.loc(), kind, axes.kept, axes.extents,
                      real, [&](BodyBuilder &b, ValueRange at) {
                        Value x =
                            b.load(node.input(0), axes.inputCoordinates(b, at));
                        return before(b, b.widen(x));
                      });
  node.setOutput(
      0, tw::buildElementwise(node.builder(), node.loc(), axes.kept, element,
                              folded, [&](BodyBuilder &b, ValueRange x) {
                                return after(b, x[0],
                                             toScalar(b, b.size(count), real));
                              }));
  return Status::ok();
}

static Status importGlobalAverage(NodeImport &node) {
  return importGlobal(
      node, FoldKind::Add, [](BodyBuilder &, Value x) { return x; },
      [](BodyBuilder &b, Value sum, Value count) {
        return divide(b, sum, count);
      });
}

static Status importGlobalMax(NodeImport &node) {
  return importGlobal(
      node, FoldKind::Max, [](BodyBuilder &, Value x) { return x; },
      [](BodyBuilder &, Value greatest, Value) { return greatest; });
}

static Status importGlobalLp(NodeImport &node) {
  Result<int64_t> p = normOrder(node);
  if (!p) {
    return p.status();
  }
  double order = static_cast<double>(*p);
  return importGlobal(
      node, FoldKind::Add,
      [&](BodyBuilder &b, Value x) { return power(b, absolute(b, x), order); },
      [&](BodyBuilder &b, Value sum, Value) -> Value {
        return *p == 2 ? Value(b.create<math::SqrtOp>(sum))
                       : power(b, sum, 1.0 / order);
      });
}

OperatorFamily poolOperators() {
  static const OperatorEntry entries[] = {
      {"", "AveragePool", 1, importAveragePool},
      {"", "GlobalAveragePool", 1, importGlobalAverage},
      {"", "GlobalLpPool", 2, importGlobalLp},
      {"", "GlobalMaxPool", 1, importGlobalMax},
      {"", "LpPool", 2, importLpPool},
      {"", "MaxPool", 1, importMaxPool},
  };
  return entries;
}

} // namespace tilewright::frontend
