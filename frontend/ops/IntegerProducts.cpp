//===- IntegerProducts.cpp - products and convolutions of integers --------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Operands minus their zero points are i32 tensors, which the ordinary product
// multiplies; the QLinear forms then scale, round and saturate. Fusing puts
// the subtraction into the contraction.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Products.h"
#include "frontend/ops/Quantization.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

/// Input `i` minus the zero point `zero` (null: nothing), as i32.
static Value centered(NodeImport &node, size_t i, Value zero) {
  Type i32 = node.builder().getI32Type(), element = node.element(i);
  return tw::buildMap(node.builder(), node.loc(), node.dims(i), i32,
                      [&](BodyBuilder &b, ValueRange at) {
                        Value x =
                            b.cast(b.load(node.input(i), at), element, i32);
                        if (!zero) {
                          return x;
                        }
                        Value offset = b.loadBroadcast(zero, at);
                        return b.subOf(x, b.cast(offset, element, i32));
                      });
}

/// Input `i` (a zero point or scale of operand `of`) in a shape that broadcasts
/// to the operand: a vector belongs to `axis`. Null where it is left out.
static Result<Value> parameter(NodeImport &node, size_t i, size_t of,
                               int64_t axis) {
  if (!node.hasInput(i)) {
    return Value();
  }
  Dims dims = node.dims(i), target = node.dims(of);
  int64_t rank = target.size();
  axis = std::max<int64_t>(axis < 0 ? axis + rank : axis, 0);
  if (dims.size() == 1 && dims[0].isConstant(1)) {
    dims.clear();
  } else if (dims.size() == 1) {
    dims.resize(rank - axis, node.constant(1));
  }
  bool fits = dims.size() <= target.size();
  for (size_t k = 0; fits && k < dims.size(); ++k) {
    DimExpr whole = target[target.size() - dims.size() + k];
    fits = dims[k].isConstant(1) || mayBeEqual(dims[k], whole);
  }
  if (!fits) {
    return node.error(ErrorCode::ShapeMismatch,
                      "input " + Twine(i) + " of shape " +
                          textOf(node.dims(i)) + " does not fit the operand " +
                          textOf(target));
  }
  return tw::buildReshape(node.builder(), node.loc(), node.input(i), dims);
}

/// A zero point has its operand's element type.
static Result<Value> zeroPoint(NodeImport &node, size_t i, size_t of,
                               int64_t axis) {
  if (node.hasInput(i) && node.element(i) != node.element(of)) {
    return node.error(ErrorCode::TypeMismatch,
                      "zero point " + Twine(i) + " must be " +
                          textOf(node.element(of)) + ", not " +
                          textOf(node.element(i)));
  }
  return parameter(node, i, of, axis);
}

//===----------------------------------------------------------------------===//
// MatMulInteger, ConvInteger
//===----------------------------------------------------------------------===//

/// Operands `a` and `b` minus their zero points. Row zero points of `a` belong
/// to its last axis but one, the others to `b`'s axis `axisOfB`.
static Status centerOperands(NodeImport &node, size_t a, size_t zeroA, size_t b,
                             size_t zeroB, int64_t axisOfB, Value &left,
                             Value &right) {
  TW_RETURN_IF_ERROR(requireInteger(node, a));
  TW_RETURN_IF_ERROR(requireInteger(node, b));
  Result<Value> offsetA = zeroPoint(node, zeroA, a, -2);
  Result<Value> offsetB = zeroPoint(node, zeroB, b, axisOfB);
  if (!offsetA || !offsetB) {
    return !offsetA ? offsetA.status() : offsetB.status();
  }
  left = centered(node, a, *offsetA);
  right = centered(node, b, *offsetB);
  return Status::ok();
}

static Status importMatMulInteger(NodeImport &node) {
  Value left, right;
  TW_RETURN_IF_ERROR(centerOperands(node, 0, 2, 1, 3, -1, left, right));
  Result<Value> result = matmul(node, left, right, node.builder().getI32Type());
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

static Status importConvInteger(NodeImport &node) {
  Value left, right;
  TW_RETURN_IF_ERROR(centerOperands(node, 0, 2, 1, 3, 0, left, right));
  Result<Value> result =
      convolution(node, left, right, {}, node.builder().getI32Type());
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// QLinearMatMul, QLinearConv
//===----------------------------------------------------------------------===//

/// Output 0: `sum` (i32) times sa * sb / sy, rounded, plus the zero point in
/// input 7. Inputs 1 and 4 are sa and sb, input 6 is sy.
static Status requantize(NodeImport &node, Value sum, Value scaleA,
                         Value scaleB) {
  TW_RETURN_IF_ERROR(requireFloat(node, 1));
  TW_RETURN_IF_ERROR(requireFloat(node, 4));
  TW_RETURN_IF_ERROR(requireFloat(node, 6));
  Dims dims = tw::dimsOf(sum.getType());
  Type element = node.element(7);
  TW_RETURN_IF_ERROR(requireNumber(node, 7));
  auto operand = [&](size_t i) {
    Dims own = node.dims(i);
    if (own.size() == 1 && own[0].isConstant(1)) {
      own.clear();
    }
    return tw::buildReshape(node.builder(), node.loc(), node.input(i), own);
  };
  Value scaleY = operand(6), zeroY = operand(7);
  for (Value parameter : {scaleA, scaleB, scaleY, zeroY}) {
    Dims own = tw::dimsOf(parameter.getType());
    bool fits = own.size() <= dims.size();
    for (size_t k = 0; fits && k < own.size(); ++k) {
      fits = own[k].isConstant(1) ||
             mayBeEqual(own[k], dims[dims.size() - own.size() + k]);
    }
    if (!fits) {
      return node.error(ErrorCode::ShapeMismatch,
                        "a scale or zero point of shape " + textOf(own) +
                            " does not broadcast to the result " +
                            textOf(dims));
    }
  }
  node.setOutput(
      0, tw::buildMap(
             node.builder(), node.loc(), dims, element,
             [&](BodyBuilder &b, ValueRange at) {
               Type real = b.getF32Type();
               auto scale = [&](Value tensor) {
                 return b.cast(b.loadBroadcast(tensor, at),
                               tw::elementTypeOf(tensor.getType()), real);
               };
               Value factor = divide(b, b.mulOf(scale(scaleA), scale(scaleB)),
                                     scale(scaleY));
               Value x = b.cast(b.load(sum, at), b.getI32Type(), real);
               return quantized(b, b.mulOf(x, factor),
                                b.loadBroadcast(zeroY, at), element, element);
             }));
  return Status::ok();
}

/// Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale,
/// y_zero_point.
static Status importQLinearMatMul(NodeImport &node) {
  Value left, right;
  TW_RETURN_IF_ERROR(centerOperands(node, 0, 2, 3, 5, -1, left, right));
  Result<Value> sum = matmul(node, left, right, node.builder().getI32Type());
  Result<Value> scaleA = parameter(node, 1, 0, -2),
                scaleB = parameter(node, 4, 3, -1);
  for (const Result<Value> *result : {&sum, &scaleA, &scaleB}) {
    if (!*result) {
      return result->status();
    }
  }
  return requantize(node, *sum, *scaleA, *scaleB);
}

/// Inputs as above, then a bias of scale sx * sw. A vector of weight scales
/// belongs to the result's channels.
static Status importQLinearConv(NodeImport &node) {
  Value left, right;
  TW_RETURN_IF_ERROR(centerOperands(node, 0, 2, 3, 5, 0, left, right));
  Value bias = node.hasInput(8) ? node.input(8) : Value();
  if (bias && !node.element(8).isInteger(32)) {
    return node.error(ErrorCode::TypeMismatch,
                      "the bias must be i32, not " + textOf(node.element(8)));
  }
  Result<Value> sum =
      convolution(node, left, right, bias, node.builder().getI32Type());
  Result<Value> scaleX = parameter(node, 1, 0, 0),
                scaleW = parameter(node, 4, 3, 0);
  for (const Result<Value> *result : {&sum, &scaleX, &scaleW}) {
    if (!*result) {
      return result->status();
    }
  }
  Value scale = *scaleW;
  Dims dims = tw::dimsOf(scale.getType());
  if (!dims.empty()) {
    dims.erase(dims.begin() + 1);
    scale = tw::buildReshape(node.builder(), node.loc(), scale, dims);
  }
  return requantize(node, *sum, *scaleX, scale);
}

OperatorFamily integerProductOperators() {
  static const OperatorEntry entries[] = {
      {"", "ConvInteger", 10, importConvInteger},
      {"", "MatMulInteger", 10, importMatMulInteger},
      {"", "QLinearConv", 10, importQLinearConv},
      {"", "QLinearMatMul", 10, importQLinearMatMul},
  };
  return entries;
}

} // namespace tilewright::frontend
