//===- MatrixTest.cpp - the reference of products -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Matrix.h"

#include "tools/tilewright/data/ElementValues.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::gpucheck;

static nlohmann::json entry(const char *type) {
  return {{"type", type}, {"m", 3}, {"n", 4}, {"k", 50}, {"layout", "nt"}};
}

TEST(Matrix, ReadsDescriptions) {
  Result<MatrixProduct> product = MatrixProduct::parse(entry("tf32"));
  ASSERT_TRUE(product);
  EXPECT_TRUE(product->tf32 && product->transposedB);
  EXPECT_EQ(product->operand, DType::F32);
  EXPECT_EQ(product->operations(), 1200);
  nlohmann::json bad = entry("f32");
  bad["n"] = 0;
  EXPECT_EQ(MatrixProduct::parse(bad).status().code(),
            ErrorCode::OptionInvalid);
  EXPECT_EQ(MatrixProduct::parse(entry("f12")).status().code(),
            ErrorCode::OptionInvalid);
}

TEST(Matrix, FindsWrongElements) {
  for (const char *type : {"f32", "f16", "bf16", "s8", "e4m3"}) {
    SCOPED_TRACE(type);
    MatrixProduct product = *MatrixProduct::parse(entry(type));
    Tensor a = std::move(*seeded(product.operand, {3, 50}, 1));
    Tensor b = std::move(*seeded(product.operand, {4, 50}, 2));
    bool isWide = product.operand == DType::I8;
    Tensor c =
        std::move(*Tensor::create(isWide ? DType::I32 : DType::F32, {3, 4}));
    double largest = 0;
    for (int64_t i = 0; i < 12; ++i) {
      long double sum = 0;
      for (int64_t r = 0; r < 50; ++r) {
        sum += elementAt(a.view(), i / 4 * 50 + r) *
               elementAt(b.view(), i % 4 * 50 + r);
      }
      setElement(c.view(), i, static_cast<double>(sum));
      largest = std::max(largest, std::abs(static_cast<double>(sum)));
    }
    EXPECT_EQ(checkProduct(product, a.view(), b.view(), c.view()), "");
    setElement(c.view(), 11, 2 * largest);
    EXPECT_EQ(checkProduct(product, a.view(), b.view(), c.view()).substr(0, 15),
              "element [2, 3] ");
  }
}
