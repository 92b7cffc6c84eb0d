//===- LibraryLaunchTest.cpp - launches that cuBLASLt does ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/GpuModule.h"

#include <functional>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

namespace {

class GpuLibraryLaunch : public GpuTest {};

/// relu(x w + bias) for x: f32[N, K], w: f32[K, 3], as a launch whose kernel
/// gives -1 for every element: who has computed is visible.
struct ProductModule {
  GpuModule b;
  uint32_t rows, depth;

  explicit ProductModule(const std::function<void(ProductT &)> &change = {}) {
    uint32_t n = b.symbol("N"), k = b.symbol("K");
    rows = b.expr(n);
    depth = b.expr(k);
    uint32_t columns = b.size(3), one = b.size(1), none = b.size(0);
    uint32_t x = b.parameter(0, "x", DType_F32, {rows, depth});
    uint32_t w = b.parameter(0, "w", DType_F32, {depth, columns});
    uint32_t bias = b.parameter(0, "bias", DType_F32, {columns});
    b.function(0).binds = {Bind(x, 0, n), Bind(x, 1, k)};
    b.function(0).evaluate = {rows, depth};
    uint32_t y = b.owned("y", DType_F32, {rows, columns});
    uint32_t kernel = b.kernel("other", R"(
extern "C" __global__ void other(const float *x, const float *w,
                                 const float *bias, float *y, long long n,
                                 long long tasks, unsigned char *workspace,
                                 int *status) {
  long long i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) {
    y[i] = -1;
  }
})");
    uint32_t count = b.evaluated(b.expr(ExprOp_Mul, rows, columns));
    LaunchT &launch = b.launch(0, kernel, {x, w, bias, y}, {count}, count);
    launch.results = 1;
    launch.product = std::make_unique<ProductT>();
    launch.product->a = 0;
    launch.product->b = 1;
    launch.product->bias = 2;
    launch.product->activation = Activation_Relu;
    launch.product->sizes = {one,     rows, columns, depth, depth,   none,
                             columns, none, columns, none,  columns, none};
    if (change) {
      change(*launch.product);
    }
    b.result(0, y);
  }
};

std::vector<float> run(Context &context, int64_t rows, int64_t depth) {
  std::vector<float> x(static_cast<size_t>(rows * depth)),
      w(static_cast<size_t>(depth * 3));
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 3) - 1;
  }
  for (size_t i = 0; i < w.size(); ++i) {
    w[i] = static_cast<float>(i % 4);
  }
  using D = tilewright::DType;
  auto outputs =
      context.run({tensor<float>(D::F32, {rows, depth}, x).view(),
                   tensor<float>(D::F32, {depth, 3}, w).view(),
                   tensor<float>(D::F32, {3}, {1, -2, 0.5f}).view()});
  EXPECT_TRUE(outputs) << outputs.status().toString();
  return outputs ? elements<float>((*outputs)[0]) : std::vector<float>();
}

std::vector<float> expected(int64_t rows, int64_t depth) {
  std::vector<float> result;
  float bias[] = {1, -2, 0.5f};
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      float sum = bias[j];
      for (int64_t k = 0; k < depth; ++k) {
        sum += (static_cast<float>((i * depth + k) % 3) - 1) *
               static_cast<float>((k * 3 + j) % 4);
      }
      result.push_back(std::max(sum, 0.0f));
    }
  }
  return result;
}

} // namespace

TEST_F(GpuLibraryLaunch, ComputesInPlaceOfTheKernel) {
  auto context = ProductModule().b.context();
  ASSERT_TRUE(context);
  for (int64_t rows : {5, 5, 5, 1, 40, 5}) {
    EXPECT_EQ(run(*context, rows, 4), expected(rows, 4)) << rows;
  }
  EXPECT_EQ(context->statistics().libraryRefusal, "");
  // The second and third run of the first shape are recorded and repeated.
  EXPECT_GT(context->statistics().replays, 0u);
  EXPECT_GE(context->statistics().libraryCalls, 4u);
}

TEST_F(GpuLibraryLaunch, UsesTheWorkspaceThatTheLibraryWants) {
  auto context = ProductModule().b.context();
  ASSERT_TRUE(context);
  // Exact sums: whole numbers below 2^24.
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run(*context, 2, 2048), expected(2, 2048));
  }
}

TEST_F(GpuLibraryLaunch, TheKernelRunsWhereTheLibraryHasNoAlgorithm) {
  auto context = ProductModule().b.context();
  ASSERT_TRUE(context);
  EXPECT_EQ(run(*context, 2, 0), std::vector<float>(6, -1));
  EXPECT_NE(context->statistics().libraryRefusal, "");
  EXPECT_EQ(context->statistics().libraryCalls, 0u);
  EXPECT_EQ(run(*context, 2, 4), expected(2, 4));
}

TEST_F(GpuLibraryLaunch, NothingToCompute) {
  auto context = ProductModule().b.context();
  ASSERT_TRUE(context);
  EXPECT_EQ(run(*context, 0, 4), std::vector<float>());
}

TEST_F(GpuLibraryLaunch, DamagedProductsAreRefused) {
  auto open = [](const std::function<void(ProductT &)> &change) {
    return ProductModule(change).b.open().status().code();
  };
  EXPECT_EQ(open({}), ErrorCode::Ok);
  for (const std::function<void(ProductT &)> &change :
       std::vector<std::function<void(ProductT &)>>{
           [](ProductT &p) { p.a = 3; }, [](ProductT &p) { p.b = 99; },
           [](ProductT &p) { p.c = 3; }, [](ProductT &p) { p.bias = -2; },
           [](ProductT &p) { p.sizes.pop_back(); },
           [](ProductT &p) { p.sizes[3] = 10000; },
           [](ProductT &p) { p.activation = Activation(7); }}) {
    EXPECT_EQ(open(change), ErrorCode::ModuleDamaged);
  }
}
