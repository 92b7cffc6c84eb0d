//===- LibraryProductTest.cpp - cuBLASLt beside the kernels ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/LibraryProduct.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::gpucheck;

namespace {

/// Multiplies seeded matrices. \returns what is wrong.
std::string multiply(const Session &session, const CublasLt &library,
                     const nlohmann::json &entry) {
  Result<MatrixProduct> product = MatrixProduct::parse(entry);
  if (!product) {
    return product.status().toString();
  }
  int64_t m = product->m, n = product->n, k = product->k;
  auto a = seeded(product->operand, {m, k}, 1);
  auto b =
      seeded(product->operand,
             product->transposedB ? std::vector{n, k} : std::vector{k, n}, 2);
  auto c = Tensor::create(
      product->operand == DType::I8 ? DType::I32 : product->operand, {m, n});
  if (!a || !b || !c) {
    return "no memory";
  }
  Result<double> milliseconds =
      multiplyByLibrary(session, library, *product, *a, *b, *c, 2);
  return milliseconds ? checkProduct(*product, a->view(), b->view(), c->view())
                      : milliseconds.status().message();
}

nlohmann::json product(const char *type, const char *layout) {
  return {{"type", type}, {"layout", layout}, {"m", 5}, {"n", 12}, {"k", 16}};
}

} // namespace

TEST(LibraryProduct, ComputesTheTablesProducts) {
  Result<Session> session = Session::open("sim:sm_80", 0);
  ASSERT_TRUE(session) << session.status().toString();
  auto library = CublasLt::open(session->gpu);
  ASSERT_TRUE(library) << library.status().toString();
  auto run = [&](const char *type, const char *layout) {
    return multiply(*session, **library, product(type, layout));
  };
  for (const char *layout : {"nn", "nt"}) {
    for (const char *type : {"f32", "tf32", "f16", "bf16"}) {
      EXPECT_EQ(run(type, layout), "") << type << " " << layout;
    }
  }
  EXPECT_EQ(run("s8", "nt"), "");
  EXPECT_EQ(run("s8", "nn"), "cuBLASLt has no algorithm for this product");
}
