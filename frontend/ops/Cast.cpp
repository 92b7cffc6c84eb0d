//===- Cast.cpp - changes of the element type -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementTypes.h"
#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"

using namespace mlir;

namespace tilewright::frontend {

/// The element type that attribute `to` names.
static Result<Type> targetType(NodeImport &node) {
  int64_t to = node.intAttribute("to", 0);
  Type element = elementTypeFromOnnx(node.context(), static_cast<int32_t>(to));
  if (element) {
    return element;
  }
  if (!onnx::TensorProto::DataType_IsValid(static_cast<int>(to)) || to == 0) {
    return node.error(ErrorCode::AttributeInvalid,
                      "'to' is " + Twine(to) + ", which is no element type");
  }
  return node.error(ErrorCode::UnsupportedType,
                    "casts to " +
                        onnx::TensorProto::DataType_Name(static_cast<int>(to)) +
                        " are not supported");
}

/// A positive f32 moved up (or down) to a power of two; NaN and infinity stay.
static Value toPowerOfTwo(BodyBuilder &b, Value x, bool up) {
  Type i32 = b.getI32Type();
  Value bits = b.create<arith::BitcastOp>(i32, x);
  Value fraction = b.integer(i32, 0x007fffff);
  Value raised = up ? b.addOf(bits, fraction) : bits;
  Value power = b.create<arith::AndIOp>(raised, b.integer(i32, 0x7f800000));
  Value magnitude = b.create<arith::AndIOp>(bits, b.integer(i32, 0x7fffffff));
  Value isFinite = b.lessOf(magnitude, b.integer(i32, 0x7f800000), i32);
  return b.select(isFinite, b.create<arith::BitcastOp>(x.getType(), power), x);
}

static Status castTo(NodeImport &node, Type element) {
  Type from = node.element(0);
  if (from == element) {
    node.setOutput(0, node.input(0));
    return Status::ok();
  }
  bool saturate = node.intAttribute("saturate", 1) != 0;
  std::string rounding = node.stringAttribute("round_mode", "up");
  if (rounding != "up" && rounding != "down" && rounding != "nearest") {
    return node.error(ErrorCode::AttributeInvalid,
                      "round_mode must be up, down or nearest, not '" +
                          rounding + "'");
  }
  // Integers of less than a byte wrap, where wider ones saturate.
  bool wraps = isFloat(from) && isInteger(element) &&
               element.getIntOrFloatBitWidth() < 8;
  bool directed = isa<Float8E8M0FNUType>(element) && rounding != "nearest";
  Value input = node.input(0);
  Value result =
      tw::buildMap(node.builder(), node.loc(), node.dims(0), element,
                   [&](BodyBuilder &body, ValueRange at) {
                     Value x = body.load(input, at);
                     if (wraps) {
                       Type i32 = body.getI32Type();
                       return body.cast(body.cast(x, from, i32), i32, element);
                     }
                     if (!directed) {
                       return body.cast(x, from, element, saturate);
                     }
                     Type real = body.getF32Type();
                     Value power = toPowerOfTwo(body, body.cast(x, from, real),
                                                rounding == "up");
                     return body.cast(power, real, element, saturate);
                   });
  node.setOutput(0, result);
  return Status::ok();
}

static Status importCast(NodeImport &node) {
  Result<Type> element = targetType(node);
  return element ? castTo(node, *element) : element.status();
}

static Status importCastLike(NodeImport &node) {
  return castTo(node, node.element(1));
}

/// How many bits an element takes in memory, at least a byte for a bool.
static unsigned storedWidth(Type element) {
  return isBool(element) ? 8 : element.getIntOrFloatBitWidth();
}

/// The same bits read as another type of the same size.
static Status importBitCast(NodeImport &node) {
  Result<Type> element = targetType(node);
  if (!element) {
    return element.status();
  }
  Type from = node.element(0), to = *element;
  if (storedWidth(from) != storedWidth(to)) {
    return node.error(ErrorCode::TypeMismatch, "elements of " + textOf(from) +
                                                   " and " + textOf(to) +
                                                   " differ in size");
  }
  Value input = node.input(0);
  Value result =
      tw::buildMap(node.builder(), node.loc(), node.dims(0), to,
                   [&](BodyBuilder &body, ValueRange at) -> Value {
                     Value scalar = body.load(input, at);
                     Type type = tw::scalarType(to);
                     if (type == scalar.getType()) {
                       return scalar;
                     }
                     if (isBool(from) || isBool(to)) {
                       return body.cast(scalar, from, to);
                     }
                     return body.create<arith::BitcastOp>(type, scalar);
                   });
  node.setOutput(0, result);
  return Status::ok();
}

OperatorFamily castOperators() {
  static const OperatorEntry entries[] = {
      {"", "BitCast", 26, importBitCast},
      {"", "Cast", 6, importCast},
      {"", "CastLike", 15, importCastLike},
  };
  return entries;
}

} // namespace tilewright::frontend
