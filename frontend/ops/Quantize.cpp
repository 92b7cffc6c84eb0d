//===- Quantize.cpp - between reals and quantised numbers -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementTypes.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Quantization.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value quantized(BodyBuilder &b, Value real, Value zeroPoint, Type zeroElement,
                Type element, bool saturate) {
  Type type = real.getType();
  if (isFloat(element)) {
    return b.cast(real, type, element, saturate);
  }
  Value rounded = b.create<math::RoundEvenOp>(real);
  if (zeroPoint) {
    rounded = b.addOf(rounded, b.cast(zeroPoint, zeroElement, type));
  }
  return b.cast(rounded, type, element);
}

Value dequantized(BodyBuilder &b, Value scalar, Type element, Value zeroPoint) {
  Type real = b.getF32Type();
  if (isFloat(element)) {
    return b.widen(scalar);
  }
  if (!zeroPoint) {
    return b.cast(scalar, element, real);
  }
  // The difference of two integers of at most 32 bits is exact in i64, and one
  // of at most 16 bits in i32.
  bool isSmall = element.getIntOrFloatBitWidth() <= 16;
  Type middle = isSmall ? b.getI32Type() : b.getI64Type();
  Value difference = b.subOf(b.cast(scalar, element, middle),
                             b.cast(zeroPoint, element, middle));
  return b.cast(difference, middle, real);
}

//===----------------------------------------------------------------------===//
// Where scales lie
//===----------------------------------------------------------------------===//

static bool isScalar(ArrayRef<DimExpr> dims) {
  return dims.empty() || (dims.size() == 1 && dims[0].isConstant(1));
}

Result<QuantizationGrid> quantizationGrid(NodeImport &node, size_t scale) {
  QuantizationGrid grid;
  Dims dims = node.dims(0), own = node.dims(scale);
  int64_t block = node.intAttribute("block_size", 0);
  if (isScalar(own) && block == 0) {
    return grid;
  }
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 1), dims.size());
  if (!axis) {
    return axis.status();
  }
  grid.axis = *axis;
  if (block == 0) {
    if (own.size() != 1 || !mayBeEqual(own[0], dims[*axis])) {
      return node.error(ErrorCode::ShapeMismatch,
                        "the scale must have the shape [" +
                            dims[*axis].toString() + "] for axis " +
                            Twine(*axis) + ", not " + textOf(own));
    }
    grid.kind = QuantizationGrid::PerAxis;
    return grid;
  }
  if (block < 0) {
    return node.error(ErrorCode::AttributeInvalid,
                      "block_size must not be negative");
  }
  Dims wanted = dims;
  wanted[*axis] = dims[*axis].ceilDiv(block);
  TW_RETURN_IF_ERROR(requireDims(node, scale, "the scale", wanted));
  grid.kind = QuantizationGrid::Blocked;
  grid.block = block;
  return grid;
}

Value QuantizationGrid::load(BodyBuilder &b, Value tensor,
                             ValueRange at) const {
  switch (kind) {
  case PerTensor:
    return b.load(tensor, SmallVector<Value>(
                              tw::dimsOf(tensor.getType()).size(), b.index(0)));
  case PerAxis:
    return b.load(tensor, at[axis]);
  case Blocked:
    break;
  }
  SmallVector<Value> from(at);
  from[axis] = b.floorDiv(at[axis], b.index(block));
  return b.load(tensor, from);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// The zero point, if there, has the scale's shape; [] and [1] are the same.
static Status checkZeroPoint(NodeImport &node) {
  if (!node.hasInput(2) || (isScalar(node.dims(1)) && isScalar(node.dims(2)))) {
    return Status::ok();
  }
  return requireDims(node, 2, "the zero point", node.dims(1));
}

static Status importQuantize(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireFloat(node, 1));
  TW_RETURN_IF_ERROR(checkZeroPoint(node));
  Result<QuantizationGrid> grid = quantizationGrid(node, 1);
  if (!grid) {
    return grid.status();
  }
  Type from = node.element(0);
  Type element = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  if (node.hasInput(2)) {
    element = node.element(2);
  } else if (int64_t wanted = node.intAttribute("output_dtype", 0)) {
    element = elementTypeFromOnnx(node.context(), static_cast<int32_t>(wanted));
    if (!element) {
      return node.error(ErrorCode::AttributeInvalid,
                        "output_dtype names no supported type");
    }
  }
  bool saturate = node.intAttribute("saturate", 1) != 0;
  node.setOutput(
      0, tw::buildMap(node.builder(), node.loc(), node.dims(0), element,
                      [&](BodyBuilder &b, ValueRange at) {
                        Type real = b.getF32Type();
                        Value x = b.cast(b.load(node.input(0), at), from, real);
                        Value scale = b.cast(grid->load(b, node.input(1), at),
                                             node.element(1), real);
                        Value zero = node.hasInput(2)
                                         ? grid->load(b, node.input(2), at)
                                         : Value();
                        return quantized(b, divide(b, x, scale), zero, element,
                                         element, saturate);
                      }));
  return Status::ok();
}

static Status importDequantize(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireFloat(node, 1));
  TW_RETURN_IF_ERROR(checkZeroPoint(node));
  if (node.hasInput(2) && node.element(2) != node.element(0)) {
    return node.error(ErrorCode::TypeMismatch,
                      "the zero point must be " + textOf(node.element(0)) +
                          ", not " + textOf(node.element(2)));
  }
  Result<QuantizationGrid> grid = quantizationGrid(node, 1);
  if (!grid) {
    return grid.status();
  }
  Type element = node.element(1);
  if (int64_t wanted = node.intAttribute("output_dtype", 0)) {
    element = elementTypeFromOnnx(node.context(), static_cast<int32_t>(wanted));
    if (!element || !isFloat(element)) {
      return node.error(ErrorCode::AttributeInvalid,
                        "output_dtype names no float type");
    }
  }
  node.setOutput(
      0, tw::buildMap(node.builder(), node.loc(), node.dims(0), element,
                      [&](BodyBuilder &b, ValueRange at) {
                        Value x = b.load(node.input(0), at);
                        Value zero = node.hasInput(2)
                                         ? grid->load(b, node.input(2), at)
                                         : Value();
                        Value scale = b.cast(grid->load(b, node.input(1), at),
                                             node.element(1), b.getF32Type());
                        Value real = b.mulOf(
                            dequantized(b, x, node.element(0), zero), scale);
                        return b.cast(real, b.getF32Type(), element);
                      }));
  return Status::ok();
}

OperatorFamily quantizeOperators() {
  static const OperatorEntry entries[] = {
      {"", "DequantizeLinear", 10, importDequantize},
      {"", "QuantizeLinear", 10, importQuantize},
  };
  return entries;
}

} // namespace tilewright::frontend
