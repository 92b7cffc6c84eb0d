//===- CublasLtTest.cpp - the calls of cuBLASLt ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/CublasLt.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::gpucheck;

namespace {

class CublasLtCalls : public testing::Test {
protected:
  void SetUp() override { use(TILEWRIGHT_FAKE_CUBLASLT); }
  void TearDown() override { unsetenv("TILEWRIGHT_CUBLASLT_LIBRARY"); }

  static void use(const char *library) {
    setenv("TILEWRIGHT_CUBLASLT_LIBRARY", library, 1);
  }
};

/// Multiplies seeded matrices. \returns what is wrong.
std::string multiply(CublasLt &library, const nlohmann::json &entry) {
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
  Result<double> milliseconds = library.multiply(*product, *a, *b, *c, 2);
  return milliseconds ? checkProduct(*product, a->view(), b->view(), c->view())
                      : milliseconds.status().message();
}

nlohmann::json product(const char *type, const char *layout) {
  return {{"type", type}, {"layout", layout}, {"m", 5}, {"n", 7}, {"k", 11}};
}

} // namespace

TEST_F(CublasLtCalls, ComputeRowMajorProducts) {
  Result<Session> session = Session::open("sim:sm_80", 0);
  ASSERT_TRUE(session) << session.status().toString();
  auto library = CublasLt::open(*session);
  ASSERT_TRUE(library) << library.status().toString();
  EXPECT_EQ((*library)->version(), "13.1.2");
  EXPECT_EQ(multiply(**library, product("f32", "nn")), "");
  EXPECT_EQ(multiply(**library, product("f32", "nt")), "");
  EXPECT_EQ(multiply(**library, product("s8", "nn")), "");
  EXPECT_EQ(multiply(**library, product("s8", "nt")), "");
  EXPECT_EQ(multiply(**library, product("f16", "nn")),
            "cuBLASLt has no algorithm for this product");
}

TEST_F(CublasLtCalls, TheLibraryIsNotThere) {
  Result<Session> session = Session::open("sim:sm_80", 0);
  ASSERT_TRUE(session) << session.status().toString();
  auto message = [&] {
    Result<std::unique_ptr<CublasLt>> library = CublasLt::open(*session);
    return library ? std::string() : library.status().message();
  };
  use("/no/such/library.so");
  EXPECT_NE(message().find("cannot be opened: /no/such/library.so"),
            std::string::npos);
  use("libm.so.6");
  EXPECT_NE(message().find("lacks cublasLtGetVersion"), std::string::npos);
  unsetenv("TILEWRIGHT_CUBLASLT_LIBRARY");
  EXPECT_NE(message().find("the simulator does not run"), std::string::npos);
}
