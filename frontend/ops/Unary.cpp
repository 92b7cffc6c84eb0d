//===- Unary.cpp - element-wise operators of one operand ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"
#include <cmath>

using namespace mlir;

namespace tilewright::frontend {

/// An operator that is one operation of `math` or `arith` on floats.
template <typename Op> static Status importFloat(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  return mapInput(node, [](BodyBuilder &b, ValueRange x) -> Value {
    return b.create<Op>(x[0]);
  });
}

//===----------------------------------------------------------------------===//
// Sign
//===----------------------------------------------------------------------===//

static Status importAbs(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  Type element = node.element(0);
  return mapInput(node, [&](BodyBuilder &b, ValueRange x) -> Value {
    if (isFloat(element)) {
      return absolute(b, x[0]);
    }
    Value negated = b.subOf(b.integer(element, 0), x[0]);
    return tw::isUnsigned(element) ? x[0] : b.maxOf(x[0], negated, element);
  });
}

static Status importNeg(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  return mapInput(node, [&](BodyBuilder &b, ValueRange x) -> Value {
    if (isFloat(node.element(0))) {
      return b.create<arith::NegFOp>(x[0]);
    }
    return b.subOf(b.integer(node.element(0), 0), x[0]);
  });
}

static Status importSign(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  Type element = node.element(0);
  return mapInput(node, [&](BodyBuilder &b, ValueRange x) -> Value {
    auto number = [&](double value) {
      return b.constant(x[0].getType(), value);
    };
    Value zero = number(0);
    Value negative = b.select(b.lessOf(x[0], zero, element), number(-1), zero);
    Value sign = b.select(b.lessOf(zero, x[0], element), number(1), negative);
    if (!isFloat(element)) {
      return sign;
    }
    Value isNan =
        b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x[0], x[0]);
    return b.select(isNan, x[0], sign);
  });
}

static Status importReciprocal(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  return mapInput(node, [](BodyBuilder &b, ValueRange x) {
    return divide(b, literal(b, x[0], 1.0), x[0]);
  });
}

//===----------------------------------------------------------------------===//
// Questions and bits
//===----------------------------------------------------------------------===//

static Status importIsNan(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  Value result = tw::buildElementwise(
      node.builder(), node.loc(), node.dims(0), node.builder().getI1Type(),
      node.input(0), [](BodyBuilder &b, ValueRange x) -> Value {
        return b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x[0], x[0]);
      });
  node.setOutput(0, result);
  return Status::ok();
}

static Status importIsInf(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  bool negative = node.intAttribute("detect_negative", 1) != 0;
  bool positive = node.intAttribute("detect_positive", 1) != 0;
  Value result = tw::buildElementwise(
      node.builder(), node.loc(), node.dims(0), node.builder().getI1Type(),
      node.input(0), [&](BodyBuilder &b, ValueRange x) -> Value {
        auto equals = [&](double bound) -> Value {
          return b.equalOf(x[0], literal(b, x[0], bound));
        };
        Value found = positive ? equals(HUGE_VAL) : b.boolean(false);
        return negative ? b.createOrFold<arith::OrIOp>(found, equals(-HUGE_VAL))
                        : found;
      });
  node.setOutput(0, result);
  return Status::ok();
}

/// Not and BitwiseNot: all bits flip.
static Status importNot(NodeImport &node) {
  if (node.proto().op_type() == "Not") {
    TW_RETURN_IF_ERROR(requireBool(node, 0));
  } else {
    TW_RETURN_IF_ERROR(requireInteger(node, 0));
  }
  return mapInput(node, [](BodyBuilder &b, ValueRange x) -> Value {
    Type type = x[0].getType();
    Value ones = type.isInteger(1) ? b.boolean(true) : b.integer(type, -1);
    return b.create<arith::XOrIOp>(x[0], ones);
  });
}

OperatorFamily unaryOperators() {
  static const OperatorEntry entries[] = {
      {"", "Abs", 1, importAbs},
      {"", "BitwiseNot", 18, importNot},
      {"", "Ceil", 1, importFloat<math::CeilOp>},
      {"", "Erf", 9, importFloat<math::ErfOp>},
      {"", "Exp", 1, importFloat<math::ExpOp>},
      {"", "Floor", 1, importFloat<math::FloorOp>},
      {"", "IsInf", 10, importIsInf},
      {"", "IsNaN", 9, importIsNan},
      {"", "Log", 1, importFloat<math::LogOp>},
      {"", "Neg", 1, importNeg},
      {"", "Not", 1, importNot},
      {"", "Reciprocal", 1, importReciprocal},
      {"", "Round", 11, importFloat<math::RoundEvenOp>},
      {"", "Sign", 9, importSign},
      {"", "Sqrt", 1, importFloat<math::SqrtOp>},
      // Trigonometry
      {"", "Acos", 7, importFloat<math::AcosOp>},
      {"", "Acosh", 9, importFloat<math::AcoshOp>},
      {"", "Asin", 7, importFloat<math::AsinOp>},
      {"", "Asinh", 9, importFloat<math::AsinhOp>},
      {"", "Atan", 7, importFloat<math::AtanOp>},
      {"", "Atanh", 9, importFloat<math::AtanhOp>},
      {"", "Cos", 7, importFloat<math::CosOp>},
      {"", "Cosh", 9, importFloat<math::CoshOp>},
      {"", "Sin", 7, importFloat<math::SinOp>},
      {"", "Sinh", 9, importFloat<math::SinhOp>},
      {"", "Tan", 7, importFloat<math::TanOp>},
      {"", "Tanh", 1, importFloat<math::TanhOp>},
  };
  return entries;
}

} // namespace tilewright::frontend
