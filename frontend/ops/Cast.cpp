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
                    "casts to " + onnx::TensorProto::DataType_Name(static_cast<int>(to)) +
                        " are not supported");
}

static Status castTo(NodeImport &node, Type element) {
  Type from = node.element(0);
  bool saturate = node.intAttribute("saturate", 1) != 0;
  std::string rounding = node.stringAttribute("round_mode", "up");
  if (isa<Float8E8M0FNUType>(element) && rounding != "nearest" && node.hasAttribute("round_mode")) {
    return node.unsupported("round_mode '" + rounding + "' of a cast to f8E8M0FNU");
  }
  if (from == element) {
    node.setOutput(0, node.input(0));
    return Status::ok();
  }
  Value input = node.input(0);
  Value result = tw::buildMap(node.builder(), node.loc(), node.dims(0), element,
                              [&](BodyBuilder &body, ValueRange at) {
                                return body.cast(body.load(input, at), from, element, saturate);
                              });
  node.setOutput(0, result);
  return Status::ok();
}

static Status importCast(NodeImport &node) {
  Result<Type> element = targetType(node);
  return element ? castTo(node, *element) : element.status();
}

static Status importCastLike(NodeImport &node) { return castTo(node, node.element(1)); }

/// The same bits read as another type of the same size.
static Status importBitCast(NodeImport &node) {
  Result<Type> element = targetType(node);
  if (!element) {
    return element.status();
  }
  Type from = node.element(0);
  unsigned width = from.getIntOrFloatBitWidth();
  if (width != element->getIntOrFloatBitWidth()) {
    return node.error(ErrorCode::TypeMismatch, "elements of " + textOf(from) + " and " +
                                                   textOf(*element) + " differ in size");
  }
  Type to = *element;
  Value input = node.input(0);
  Value result = tw::buildMap(
      node.builder(), node.loc(), node.dims(0), to, [&](BodyBuilder &body, ValueRange at) -> Value {
        Value scalar = body.load(input, at);
        Type type = tw::scalarType(to);
        return type == scalar.getType() ? scalar : body.create<arith::BitcastOp>(type, scalar);
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
