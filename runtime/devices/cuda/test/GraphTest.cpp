//===- GraphTest.cpp - recorded runs --------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/GpuModule.h"

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

namespace {
class GpuGraph : public GpuTest {};

/// x * 2 + 1, * 3 + 1, and its shape, with a value of each storage.
struct Chain : OneInput {
  Chain() {
    uint32_t h0 = arena("h0", 0, 1);
    uint32_t h1 = owned("h1");
    uint32_t y = owned("y");
    scale(x, h0, 2);
    scale(h0, h1, 3);
    b.copy(0, h1, y);
    b.lastCommand(0).release = {h1};
    uint32_t shape = b.owned("shape", DType_I64, {b.size(1)});
    auto &write = b.command<WriteSizesT>(0);
    write.to = shape;
    write.sizes = {dim};
    b.result(0, y);
    b.result(0, shape);
  }
};

void expectRun(Context &context, size_t size, float first) {
  std::vector<float> in(size);
  for (size_t i = 0; i < size; ++i) {
    in[i] = first + static_cast<float>(i);
  }
  Tensor x =
      tensor<float>(tilewright::DType::F32, {static_cast<int64_t>(size)}, in);
  auto outputs = context.run({x.view()});
  ASSERT_TRUE(outputs) << outputs.status().toString();
  std::vector<float> out = elements<float>((*outputs)[0]);
  ASSERT_EQ(out.size(), size);
  for (size_t i = 0; i < size; ++i) {
    EXPECT_EQ(out[i], (in[i] * 2 + 1) * 3 + 1);
  }
  EXPECT_EQ(elements<int64_t>((*outputs)[1]),
            std::vector<int64_t>{static_cast<int64_t>(size)});
}
} // namespace

TEST_F(GpuGraph, ReplaysFromTheSecondRunOn) {
  auto context = Chain().b.context();
  ASSERT_TRUE(context);
  for (uint64_t round = 0; round < 5; ++round) {
    expectRun(*context, 100, static_cast<float>(round));
    EXPECT_EQ(context->statistics().replays, round);
    EXPECT_EQ(context->statistics().launches, 2u);
    EXPECT_EQ(context->statistics().commands, 4u);
  }
}

TEST_F(GpuGraph, ShapesHaveTheirOwn) {
  auto context = Chain().b.context();
  ASSERT_TRUE(context);
  // The larger shape moves the arena, so that what was recorded is of no use.
  for (size_t size : {10, 10, 5000, 5000, 10, 10, 5000, 3, 3, 5000, 10}) {
    expectRun(*context, size, static_cast<float>(size));
  }
  // First runs: 10, 5000, 3.
  EXPECT_EQ(context->statistics().replays, 8u);
}

TEST_F(GpuGraph, NothingIsRecordedForAListener) {
  auto context = Chain().b.context();
  ASSERT_TRUE(context);
  expectRun(*context, 10, 0);
  expectRun(*context, 10, 1);
  EXPECT_EQ(context->statistics().replays, 1u);
  int events = 0;
  context->setListener([&](const CommandEvent &) { ++events; });
  expectRun(*context, 10, 2);
  EXPECT_EQ(events, 4);
  context->setListener({});
  expectRun(*context, 10, 3);
  EXPECT_EQ(context->statistics().replays, 2u);
}

TEST_F(GpuGraph, ManyShapesForgetTheOldest) {
  auto context = Chain().b.context();
  ASSERT_TRUE(context);
  for (int round = 0; round < 3; ++round) {
    for (size_t size = 1; size <= 20; ++size) {
      expectRun(*context, size, 0);
    }
  }
}
