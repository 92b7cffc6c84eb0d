//===- ArenaTest.cpp --------------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/Arena.h"

#include <gtest/gtest.h>
#include <random>

using namespace tilewright;

static void expectDisjoint(const std::vector<ArenaBuffer> &buffers,
                           const ArenaLayout &layout) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % 64, 0);
    EXPECT_LE(layout.offsets[i] + buffers[i].bytes, layout.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = buffers[i].first <= buffers[j].last &&
                      buffers[j].first <= buffers[i].last;
      bool overlap = layout.offsets[i] < layout.offsets[j] + buffers[j].bytes &&
                     layout.offsets[j] < layout.offsets[i] + buffers[i].bytes;
      EXPECT_FALSE(together && overlap) << i << " and " << j;
    }
  }
}

TEST(Arena, ReusesMemoryOfDeadBuffers) {
  std::vector<ArenaBuffer> buffers = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  Result<ArenaLayout> layout = planArena(buffers);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->bytes, 256);
  expectDisjoint(buffers, *layout);
}

TEST(Arena, TakesTheSmallestGap) {
  // The last buffer fits into the gap that {200, 1, 1} leaves beside the rest.
  std::vector<ArenaBuffer> buffers = {
      {1024, 0, 9}, {512, 0, 0}, {256, 0, 9}, {128, 5, 5}};
  Result<ArenaLayout> layout = planArena(buffers);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->bytes, 1024 + 512 + 256);
  EXPECT_EQ(layout->offsets[3], 1024);
}

TEST(Arena, EmptyAndZeroSized) {
  EXPECT_EQ(planArena({})->bytes, 0);
  EXPECT_EQ(planArena({{0, 0, 5}, {0, 0, 5}})->bytes, 0);
}

TEST(Arena, RandomLifetimes) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<ArenaBuffer> buffers;
    for (int i = 0; i < 60; ++i) {
      uint32_t first = random() % 40;
      buffers.push_back(
          {int64_t(random() % 5000), first, first + uint32_t(random() % 10)});
    }
    Result<ArenaLayout> layout = planArena(buffers);
    ASSERT_TRUE(layout);
    expectDisjoint(buffers, *layout);
  }
}

TEST(Arena, RunawaySizes) {
  EXPECT_EQ(planArena({{INT64_MAX, 0, 0}}).status().code(),
            ErrorCode::OutOfMemory);
  EXPECT_EQ(
      planArena(
          {{INT64_MAX / 2, 0, 0}, {INT64_MAX / 2, 0, 0}, {INT64_MAX / 2, 1, 1}})
          .status()
          .code(),
      ErrorCode::OutOfMemory);
  EXPECT_EQ(planArena({{-1, 0, 0}}).status().code(), ErrorCode::Internal);
}
