//===- Expressions.cpp - sizes at run time --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Expressions.h"

#include <algorithm>

using namespace tilewright;

/// \returns a / b, rounded down, and the remainder, which has b's sign.
static void divideDown(int64_t a, int64_t b, int64_t &quotient,
                       int64_t &remainder) {
  quotient = a / b;
  remainder = a % b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) {
    --quotient;
    remainder += b;
  }
}

int64_t tilewright::evaluateExpression(const format::Expr &expr,
                                       const std::vector<int64_t> &expressions,
                                       const std::vector<int64_t> &symbols) {
  if (expr.op() == format::ExprOp_Const) {
    return expr.value();
  }
  if (expr.op() == format::ExprOp_Symbol) {
    return symbols[static_cast<size_t>(expr.value())];
  }
  int64_t a = expressions[expr.a()];
  int64_t b = expressions[expr.b()];
  if (expr.op() == format::ExprOp_Select) {
    return a == overflowedSize ? a : a != 0 ? b : expressions[expr.c()];
  }
  if (a == overflowedSize || b == overflowedSize) {
    return overflowedSize;
  }
  int64_t result = 0;
  int64_t rest = 0;
  bool overflow = false;
  switch (expr.op()) {
  case format::ExprOp_Add:
    overflow = __builtin_add_overflow(a, b, &result);
    break;
  case format::ExprOp_Sub:
    overflow = __builtin_sub_overflow(a, b, &result);
    break;
  case format::ExprOp_Mul:
    overflow = __builtin_mul_overflow(a, b, &result);
    break;
  case format::ExprOp_FloorDiv:
    if (b != 0) {
      divideDown(a, b, result, rest);
    }
    break;
  case format::ExprOp_CeilDiv:
    if (b != 0) {
      divideDown(a, b, result, rest);
      result += rest != 0;
    }
    break;
  case format::ExprOp_Mod:
    if (b != 0) {
      divideDown(a, b, rest, result);
    }
    break;
  case format::ExprOp_Min:
    return std::min(a, b);
  case format::ExprOp_Max:
    return std::max(a, b);
  default:
    return overflowedSize; // The verifier has refused it.
  }
  return overflow ? overflowedSize : result;
}

// Expressions share operands, so that a text can be exponentially long.
static constexpr unsigned textDepth = 8;

static std::string text(const format::PlanT &plan, uint32_t index,
                        unsigned depth, bool inner) {
  const format::Expr &expr = plan.expressions[index];
  if (expr.op() == format::ExprOp_Const) {
    return std::to_string(expr.value());
  }
  if (expr.op() == format::ExprOp_Symbol) {
    return plan.symbols[static_cast<size_t>(expr.value())];
  }
  if (depth == 0) {
    return "…";
  }
  auto operand = [&](uint32_t i, bool nested) {
    return text(plan, i, depth - 1, nested);
  };
  auto call = [&](const char *name) {
    return name + ("(" + operand(expr.a(), false)) + ", " +
           operand(expr.b(), false) + ")";
  };
  auto infix = [&](const char *symbol) {
    std::string out =
        operand(expr.a(), true) + symbol + operand(expr.b(), true);
    return inner ? "(" + out + ")" : out;
  };
  switch (expr.op()) {
  case format::ExprOp_Add:
    return infix(" + ");
  case format::ExprOp_Sub:
    return infix(" - ");
  case format::ExprOp_Mul:
    return infix("*");
  case format::ExprOp_FloorDiv:
    return infix(" floordiv ");
  case format::ExprOp_CeilDiv:
    return infix(" ceildiv ");
  case format::ExprOp_Mod:
    return infix(" mod ");
  case format::ExprOp_Min:
    return call("min");
  case format::ExprOp_Max:
    return call("max");
  default:
    return "select(" + operand(expr.a(), false) + ", " +
           operand(expr.b(), false) + ", " + operand(expr.c(), false) + ")";
  }
}

std::string tilewright::expressionText(const format::PlanT &plan,
                                       uint32_t index) {
  return text(plan, index, textDepth, false);
}
