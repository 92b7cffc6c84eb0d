//===- ExpressionsTest.cpp --------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/Expressions.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::format;

static int64_t binary(ExprOp op, int64_t a, int64_t b, int64_t c = 0) {
  return evaluateExpression(Expr(0, 0, 1, 2, op), {a, b, c}, {});
}

TEST(Expressions, Division) {
  for (int64_t a : {-7, -6, -1, 0, 1, 6, 7}) {
    for (int64_t b : {-3, -1, 1, 2, 3}) {
      double exact = double(a) / double(b);
      EXPECT_EQ(binary(ExprOp_FloorDiv, a, b), int64_t(std::floor(exact)));
      EXPECT_EQ(binary(ExprOp_CeilDiv, a, b), int64_t(std::ceil(exact)));
      EXPECT_EQ(binary(ExprOp_Mod, a, b), a - b * int64_t(std::floor(exact)));
    }
    EXPECT_EQ(binary(ExprOp_FloorDiv, a, 0), 0);
    EXPECT_EQ(binary(ExprOp_CeilDiv, a, 0), 0);
    EXPECT_EQ(binary(ExprOp_Mod, a, 0), 0);
  }
}

TEST(Expressions, Others) {
  EXPECT_EQ(binary(ExprOp_Add, 2, 3), 5);
  EXPECT_EQ(binary(ExprOp_Sub, 2, 3), -1);
  EXPECT_EQ(binary(ExprOp_Mul, 2, 3), 6);
  EXPECT_EQ(binary(ExprOp_Min, 2, 3), 2);
  EXPECT_EQ(binary(ExprOp_Max, 2, 3), 3);
  EXPECT_EQ(binary(ExprOp_Select, 1, 2, 3), 2);
  EXPECT_EQ(binary(ExprOp_Select, 0, 2, 3), 3);
  EXPECT_EQ(evaluateExpression(Expr(1, 0, 0, 0, ExprOp_Symbol), {}, {7, 8}), 8);
}

TEST(Expressions, OverflowPoisons) {
  EXPECT_EQ(binary(ExprOp_Mul, INT64_MAX, 2), overflowedSize);
  EXPECT_EQ(binary(ExprOp_Add, INT64_MAX, 1), overflowedSize);
  EXPECT_EQ(binary(ExprOp_Sub, -2, INT64_MAX), overflowedSize);
  EXPECT_EQ(binary(ExprOp_Min, overflowedSize, 3), overflowedSize);
  EXPECT_EQ(binary(ExprOp_FloorDiv, overflowedSize, -1), overflowedSize);
  // What a Select does not choose does no harm.
  EXPECT_EQ(binary(ExprOp_Select, 1, 5, overflowedSize), 5);
}

TEST(Expressions, Text) {
  PlanT plan;
  plan.symbols = {"N"};
  plan.expressions = {
      Expr(0, 0, 0, 0, ExprOp_Symbol), Expr(2, 0, 0, 0, ExprOp_Const),
      Expr(0, 0, 1, 0, ExprOp_Mul), Expr(0, 2, 1, 0, ExprOp_FloorDiv),
      Expr(0, 3, 1, 0, ExprOp_Max)};
  EXPECT_EQ(expressionText(plan, 2), "N*2");
  EXPECT_EQ(expressionText(plan, 3), "(N*2) floordiv 2");
  EXPECT_EQ(expressionText(plan, 4), "max((N*2) floordiv 2, 2)");
  // Shared operands: 2^200 symbols, if it were written out.
  for (uint32_t i = 5; i < 205; ++i) {
    plan.expressions.emplace_back(0, i - 1, i - 1, 0, ExprOp_Add);
  }
  EXPECT_LT(expressionText(plan, 204).size(), 10000u);
}
