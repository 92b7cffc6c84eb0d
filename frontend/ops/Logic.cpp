//===- Logic.cpp - comparisons, logic, bits and selection -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"

using namespace mlir;

namespace tilewright::frontend {

static Status mapBoth(NodeImport &node, Type element, ScalarBody body) {
  TW_RETURN_IF_ERROR(requireSameElement(node, 2));
  Result<Value> second = secondOperand(node);
  if (!second) {
    return second.status();
  }
  Result<Value> result =
      broadcastMap(node, {node.input(0), *second}, element, body);
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static Status importEqual(NodeImport &node) {
  return mapBoth(
      node, node.builder().getI1Type(),
      [](BodyBuilder &b, ValueRange x) { return b.equalOf(x[0], x[1]); });
}

/// `swapped`: the second operand is the lesser one.
template <bool swapped, bool orEqual>
static Status importOrder(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  return mapBoth(node, node.builder().getI1Type(),
                 [&](BodyBuilder &b, ValueRange x) {
                   Value low = x[swapped ? 1 : 0], high = x[swapped ? 0 : 1];
                   return orEqual ? b.lessEqualOf(low, high, node.element(0))
                                  : b.lessOf(low, high, node.element(0));
                 });
}

//===----------------------------------------------------------------------===//
// Logic and bits
//===----------------------------------------------------------------------===//

template <typename Op, bool bitwise>
static Status importBits(NodeImport &node) {
  TW_RETURN_IF_ERROR(bitwise ? requireInteger(node, 0) : requireBool(node, 0));
  return mapBoth(node, node.element(0),
                 [](BodyBuilder &b, ValueRange x) -> Value {
                   return b.create<Op>(x[0], x[1]);
                 });
}

/// Shifts by the width or more (or by a negative count) move all bits out; a
/// right shift of a signed number fills with the sign.
static Status importBitShift(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireInteger(node, 0));
  std::string direction = node.stringAttribute("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return node.error(ErrorCode::AttributeInvalid,
                      "direction must be 'LEFT' or 'RIGHT', not '" + direction +
                          "'");
  }
  bool fillsWithSign = direction == "RIGHT" && !tw::isUnsigned(node.element(0));
  return mapBoth(
      node, node.element(0), [&](BodyBuilder &b, ValueRange x) -> Value {
        Type type = x[0].getType();
        unsigned width = cast<IntegerType>(type).getWidth();
        Value fits = b.create<arith::CmpIOp>(arith::CmpIPredicate::ule, x[1],
                                             b.integer(type, width - 1));
        if (fillsWithSign) {
          Value count = b.select(fits, x[1], b.integer(type, width - 1));
          return b.create<arith::ShRSIOp>(x[0], count);
        }
        Value zero = b.integer(type, 0);
        Value count = b.select(fits, x[1], zero);
        Value shifted = direction == "LEFT"
                            ? Value(b.create<arith::ShLIOp>(x[0], count))
                            : Value(b.create<arith::ShRUIOp>(x[0], count));
        return b.select(fits, shifted, zero);
      });
}

static Status importWhere(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireBool(node, 0));
  if (node.element(1) != node.element(2)) {
    return node.error(ErrorCode::TypeMismatch,
                      "inputs 1 and 2 must have one element type, but are " +
                          textOf(node.element(1)) + " and " +
                          textOf(node.element(2)));
  }
  Result<Value> result = broadcastMap(
      node, {node.input(0), node.input(1), node.input(2)}, node.element(1),
      [](BodyBuilder &b, ValueRange x) { return b.select(x[0], x[1], x[2]); });
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

OperatorFamily logicOperators() {
  static const OperatorEntry entries[] = {
      {"", "And", 1, importBits<arith::AndIOp, false>},
      {"", "BitShift", 11, importBitShift},
      {"", "BitwiseAnd", 18, importBits<arith::AndIOp, true>},
      {"", "BitwiseOr", 18, importBits<arith::OrIOp, true>},
      {"", "BitwiseXor", 18, importBits<arith::XOrIOp, true>},
      {"", "Equal", 1, importEqual},
      {"", "Greater", 1, importOrder<true, false>},
      {"", "GreaterOrEqual", 12, importOrder<true, true>},
      {"", "Less", 1, importOrder<false, false>},
      {"", "LessOrEqual", 12, importOrder<false, true>},
      {"", "Or", 1, importBits<arith::OrIOp, false>},
      {"", "Where", 9, importWhere},
      {"", "Xor", 1, importBits<arith::XOrIOp, false>},
  };
  return entries;
}

} // namespace tilewright::frontend
