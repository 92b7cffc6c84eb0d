//===- AllocationTest.cpp - the hot path allocates outputs only -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/test/TestModule.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

static std::atomic<int64_t> allocations{0};

void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size ? size : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  ++allocations;
  return std::malloc(size ? size : 1);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

/// A chain of `length` launches, each followed by a copy, all in the arena.
static std::unique_ptr<Context> makeChain(uint32_t length) {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t bytes = b.expr(ExprOp_Mul, dim, b.size(4));
  uint32_t value = b.parameter(0, "x", DType_F32, {dim});
  b.function(0).binds = {Bind(value, 0, n)};
  b.function(0).evaluate = {dim, bytes};
  uint32_t kernel = b.kernel("scale");
  for (uint32_t i = 0; i < 2 * length; ++i) {
    b.function(0).buffers.emplace_back(bytes, i, i + 1);
    uint32_t next = b.value("h", DType_F32, {dim}, Storage_Arena, i);
    if (i % 2) {
      b.copy(0, value, next);
    } else {
      auto &launch = b.command<LaunchT>(0);
      launch.kernel = kernel;
      launch.args = {value, next};
      launch.sizes = {b.size(1)};
      launch.tasks = dim;
      launch.workspace = b.size(64);
    }
    value = next;
  }
  uint32_t y = b.owned("y", DType_F32, {dim});
  b.copy(0, value, y);
  b.result(0, y);
  return std::move(*Context::create(*b.open(), {2}));
}

static int64_t allocationsOfARun(Context &context) {
  Tensor x = tensor<float>(tilewright::DType::F32, {100},
                           std::vector<float>(100, 1.0f));
  std::vector<TensorView> inputs = {x.view()};
  for (int warmUp = 0; warmUp < 2; ++warmUp) {
    EXPECT_TRUE(context.run(inputs));
  }
  int64_t before = allocations;
  EXPECT_TRUE(context.run(inputs));
  return allocations - before;
}

TEST(Allocation, CommandsAllocateNothing) {
  int64_t few = allocationsOfARun(*makeChain(1));
  EXPECT_EQ(allocationsOfARun(*makeChain(50)), few);
  EXPECT_LE(few, 3); // the list of outputs, and the output's shape
}
