//===- ConcurrencyTest.cpp --------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/test/TestModule.h"

#include <gtest/gtest.h>
#include <thread>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

TEST(Concurrency, ContextsShareAModule) {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t bytes = b.expr(ExprOp_Mul, dim, b.size(4));
  uint32_t x = b.parameter(0, "x", DType_F32, {dim});
  b.function(0).binds = {Bind(x, 0, n)};
  b.function(0).evaluate = {dim, bytes};
  b.function(0).buffers = {Buffer(bytes, 0, 1)};
  uint32_t h = b.value("h", DType_F32, {dim}, Storage_Arena, 0);
  uint32_t y = b.owned("y", DType_F32, {dim});
  uint32_t kernel = b.kernel("scale");
  for (auto [from, to] : {std::pair(x, h), std::pair(h, y)}) {
    auto &launch = b.command<LaunchT>(0);
    launch.kernel = kernel;
    launch.args = {from, to};
    launch.sizes = {b.size(2)};
    launch.tasks = dim;
    launch.workspace = b.size(0);
  }
  b.result(0, y);
  auto module = b.open();
  ASSERT_TRUE(module) << module.status().toString();

  std::vector<int> right(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto context =
          std::move(*Context::create(*module, {unsigned(1 + t % 3)}));
      for (int run = 0; run < 300; ++run) {
        int64_t size = 1 + (run * 37 + t * 11) % 200;
        float start = static_cast<float>(t * 1000 + run);
        std::vector<float> in(static_cast<size_t>(size), start);
        Tensor tensor = test::tensor<float>(tilewright::DType::F32, {size}, in);
        auto out = context->run({tensor.view()});
        std::vector<float> expected(static_cast<size_t>(size),
                                    (start * 2 + 1) * 2 + 1);
        right[t] += out && elements<float>((*out)[0]) == expected;
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, std::vector<int>(8, 300));
}

TEST(Concurrency, OneContextInSeveralThreads) {
  TestModule b;
  uint32_t one = b.size(1);
  uint32_t x = b.parameter(0, "x", DType_F32, {one});
  uint32_t y = b.owned("y", DType_F32, {one});
  b.copy(0, x, y);
  b.result(0, y);
  auto context = std::move(*Context::create(*b.open(), {2}));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      float value = static_cast<float>(t);
      for (int run = 0; run < 200; ++run) {
        int64_t shape = 1;
        auto out = context->run(
            {TensorView(tilewright::DType::F32, ShapeRef(&shape, 1), &value)});
        wrong += !out || (*out)[0].as<float>()[0] != value;
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}
