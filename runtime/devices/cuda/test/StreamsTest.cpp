//===- StreamsTest.cpp - streams and events of a plan ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/GpuModule.h"

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

static constexpr int seeds = 20;

namespace {
class GpuStreams : public GpuTest {};

/// y = (a + b) of two branches, each of two launches, on streams of their own.
struct Branches : OneInput {
  explicit Branches(bool withEvent) {
    uint32_t a0 = arena("a0", 0, 4);
    uint32_t a1 = arena("a1", 1, 4);
    uint32_t b0 = arena("b0", 2, 4);
    uint32_t b1 = arena("b1", 3, 4);
    uint32_t y = owned("y");
    b.function(0).streams = 2;
    b.function(0).events = 1;
    scale(x, a0, 2);
    scale(a0, a1, 3);
    scale(x, b0, 5).stream = 1;
    CommandT &last = scale(b0, b1, 7);
    last.stream = 1;
    last.records = 0;
    uint32_t add = b.kernel("add", R"(
extern "C" __global__ void add(const float *a, const float *b, float *y,
                               long long n, long long tasks,
                               unsigned char *workspace, int *status) {
  long long i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) {
    y[i] = a[i] + b[i];
  }
})");
    b.launch(0, add, {a1, b1, y}, {dim}, dim);
    if (withEvent) {
      b.lastCommand(0).waits = {0};
    }
    b.result(0, y);
  }

  /// Whether three runs (the last from a graph) with a seed give what they
  /// should.
  bool isRight(int seed) {
    Environment environment("TILEWRIGHT_SIM_SEED", std::to_string(seed));
    auto made = b.context();
    for (int round = 0; made && round < 3; ++round) {
      float value = static_cast<float>(round + 1);
      Tensor in = tensor<float>(tilewright::DType::F32, {1}, {value});
      auto outputs = made->run({in.view()});
      float expected = (value * 2 + 1) * 3 + 1 + (value * 5 + 1) * 7 + 1;
      if (!outputs || *(*outputs)[0].as<float>() != expected) {
        return false;
      }
    }
    return made != nullptr;
  }
};
} // namespace

TEST_F(GpuStreams, EventsOrderThem) {
  Branches branches(/*withEvent=*/true);
  for (int seed = 0; seed < seeds; ++seed) {
    EXPECT_TRUE(branches.isRight(seed)) << seed;
  }
}

TEST_F(GpuStreams, AMissingEventShows) {
  Branches branches(/*withEvent=*/false);
  int wrong = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    wrong += !branches.isRight(seed);
  }
  EXPECT_GE(wrong, seeds / 2);
}

TEST_F(GpuStreams, AMissingEventBeforeReuseShows) {
  // `late` takes the place of `early`, which the other stream still reads.
  for (bool withEvent : {true, false}) {
    OneInput t;
    uint32_t early = t.arena("early", 0, 1);
    uint32_t late = t.arena("late", 2, 3);
    uint32_t y0 = t.owned("y0");
    uint32_t y1 = t.owned("y1");
    t.b.function(0).streams = 2;
    t.b.function(0).events = 2;
    t.scale(t.x, early, 2).records = 0;
    CommandT &read = t.scale(early, y0, 1);
    read.stream = 1;
    read.waits = {0};
    read.records = 1;
    CommandT &write = t.scale(t.x, late, 100);
    write.waits = withEvent ? Ids{1} : Ids{};
    t.scale(late, y1, 1);
    t.b.result(0, y0);
    t.b.result(0, y1);
    int wrong = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      Environment environment("TILEWRIGHT_SIM_SEED", std::to_string(seed));
      auto context = t.b.context();
      ASSERT_TRUE(context);
      Tensor in = tensor<float>(tilewright::DType::F32, {1}, {1});
      auto outputs = context->run({in.view()});
      wrong += !outputs || *(*outputs)[0].as<float>() != 4 ||
               *(*outputs)[1].as<float>() != 102;
    }
    EXPECT_EQ(wrong > 0, !withEvent) << wrong;
  }
}

TEST_F(GpuStreams, PooledMemoryStaysOnItsStream) {
  // A block that stream 1 has let go of, while stream 0 needs one.
  OneInput t;
  uint32_t h0 = t.owned("h0");
  uint32_t h1 = t.owned("h1");
  uint32_t h2 = t.owned("h2");
  uint32_t y = t.owned("y");
  t.b.function(0).streams = 2;
  t.scale(t.x, h0, 2).stream = 1;
  CommandT &second = t.scale(h0, h1, 3);
  second.stream = 1;
  second.release = {h0};
  t.scale(t.x, h2, 5);
  t.scale(h2, y, 7);
  t.b.result(0, y);
  t.b.result(0, h1);
  for (int seed = 1; seed <= seeds; ++seed) {
    Environment environment("TILEWRIGHT_SIM_SEED", std::to_string(seed));
    auto context = t.b.context();
    ASSERT_TRUE(context);
    for (int round = 0; round < 3; ++round) {
      Tensor in = tensor<float>(tilewright::DType::F32, {1}, {1});
      auto outputs = context->run({in.view()});
      ASSERT_TRUE(outputs) << outputs.status().toString();
      EXPECT_EQ(*(*outputs)[0].as<float>(), 43);
      EXPECT_EQ(*(*outputs)[1].as<float>(), 10);
    }
  }
}
