//===- AttentionMaskTest.cpp - keys that a mask hides ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/AttentionTilesFixture.h"

using namespace tilewright;
using namespace tilewright::test;
using families::AttentionTile;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

class AttentionMask : public AttentionTiles {
protected:
  /// What a kernel with the tile should move of 160 keys and 128 queries.
  double model(const AttentionTile &tile,
               const std::vector<families::KeyLine> &lines) {
    families::AttentionProblem model;
    model.group = 2;
    model.heads = AttentionProblemCase::headCount / model.group;
    model.queries = 128;
    model.keys = 160;
    model.depth = model.values = 64;
    model.resultBytes = 4;
    int64_t bytes = std::string(GetParam().element) == "f32" ? 4 : 2;
    for (int64_t &operand : model.operandBytes) {
      operand = bytes;
    }
    model.lines.assign(lines.begin(), lines.end());
    return families::attentionTraffic(tile, model);
  }

  static double moved(const SimtRegion &region) {
    constexpr double sectorBytes = 32;
    return double(region.counters.globalLoads.sectors +
                  region.counters.globalStores.sectors) *
           sectorBytes;
  }
};
INSTANTIATE_TEST_SUITE_P(Families, AttentionMask,
                         testing::Values(Way{"f32", false}, Way{"f32", true},
                                         Way{"f16", false}),
                         [](const auto &info) {
                           return info.param.element +
                                  std::string(info.param.tf32 ? "_tf32" : "");
                         });

const AttentionTile tiles[] = {
    {1, 1, 1, 16, 2}, {4, 1, 1, 32, 2}, {2, 1, 2, 16, 3}, {1, 4, 1, 16, 2}};

const char *causal = "%see = arith.cmpi sle, %j, %i : index";
const char *window = R"(
          %size = arith.constant 24 : index
          %before = arith.subi %i, %size : index
          %not_later = arith.cmpi sge, %i, %j : index
          %recent = arith.cmpi slt, %before, %j : index
          %see = arith.andi %not_later, %recent : i1)";

// A tile of keys that no query of the block sees is not read.
TEST_P(AttentionMask, HiddenTilesAreNotRead) {
  for (const AttentionTile &tile : tiles) {
    for (bool isWindow : {false, true}) {
      AttentionVariety variety = seeing(isWindow ? window : causal);
      variety.depth = variety.width = 64;
      variety.queries = "128";
      variety.keys = "160";
      auto region = build(variety, tile);
      ASSERT_TRUE(region);
      auto test = problem(128, 160, variety);
      check(*region, test, [&](float s, int i, int j, float) {
        return j <= i && (!isWindow || j > i - 24) ? s * 0.25f : -infinity;
      });
      std::vector<families::KeyLine> lines = {{true, 1, 0}};
      if (isWindow) {
        lines.push_back({false, 1, -23});
      }
      EXPECT_NEAR(moved(*region) / model(tile, lines), 1, 0.05);
      EXPECT_LT(moved(*region), 0.9 * model(tile, {}));
      EXPECT_EQ(region->counters.sharedConflicts, 0u);
    }
  }
}

// As in a decoder whose mask is added, with padding on the left: rows that see
// padding alone weigh all keys, hidden ones as well.
TEST_P(AttentionMask, RowsThatSeePaddingAlone) {
  for (const AttentionTile &tile : tiles) {
    for (bool isWindow : {false, true}) {
      AttentionVariety variety = paddedDecoder(isWindow);
      variety.depth = variety.width = 64;
      auto region = build(variety, tile);
      ASSERT_TRUE(region);
      for (int padded : {0, 20, 70}) {
        auto test = problem(128, 160, variety);
        check(*region, test, decoderScore(test, padded, isWindow));
        if (padded == 0) {
          EXPECT_LT(moved(*region), 0.95 * model(tile, {}));
          EXPECT_EQ(region->counters.sharedConflicts, 0u);
        }
      }
    }
  }
}

// Where the line is may be known to memory alone, and be anywhere.
TEST_P(AttentionMask, LinesFromMemory) {
  AttentionVariety variety = seeing(R"(
          %first = arith.constant 0 : index
          %from = tw.load %m[%first, %first] : MT -> f32
          %past = arith.fptosi %from : f32 to i64
          %jj = arith.index_cast %j : index to i64
          %ii = arith.index_cast %i : index to i64
          %last = arith.addi %ii, %past : i64
          %see = arith.cmpi sge, %last, %jj : i64)");
  auto region = build(variety);
  ASSERT_TRUE(region);
  for (float past : {0.0f, 5.0f, 70.0f, 1e4f, 4e18f, -20.0f, -1e4f, -9e18f}) {
    auto test = problem(33, 70, variety);
    test.mask[0] = past;
    run(*region, test);
    expectClose(test.out, test.expected([&](float s, int i, int j, float) {
      return double(j) <= double(i) + double(past) ? s * 0.25f : -infinity;
    }),
                GetParam().tolerance());
  }
}

// A line for keys alone, as of a cache that is not full.
TEST_P(AttentionMask, LinesWithoutQueries) {
  AttentionVariety variety = seeing(R"(
          %limit = arith.constant 37 : index
          %hidden = arith.cmpi sgt, %j, %limit : index
          %true = arith.constant true
          %see = arith.xori %hidden, %true : i1)");
  variety.depth = variety.width = 64;
  auto region = build(variety);
  ASSERT_TRUE(region);
  for (int queries : {1, 40}) {
    auto test = problem(queries, 300, variety);
    check(*region, test, [](float s, int, int j, float) {
      return j <= 37 ? s * 0.25f : -infinity;
    });
    // All keys and values once take more.
    int64_t bytes = std::string(GetParam().element) == "f32" ? 4 : 2;
    EXPECT_LT(moved(*region), double(300 * 4 * 2 * 64 * bytes));
  }
}

// What is hidden by a number in place of the score still counts where a row
// sees nothing better.
TEST_P(AttentionMask, NumbersInPlaceOfScores) {
  AttentionVariety variety;
  variety.mask = R"(
          %none = arith.constant -10000.0 : f32
          %far = arith.constant 40 : index
          %start = arith.subi %i, %far : index
          %u = arith.mulf %s, %scale : f32
          %see = arith.cmpi slt, %j, %start : index
          %x = arith.select %see, %u, %none : f32)";
  auto region = build(variety);
  ASSERT_TRUE(region);
  auto test = problem(90, 90, variety);
  check(*region, test, [](float s, int i, int j, float) {
    return j < i - 40 ? s * 0.25f : -10000.0f;
  });
}

} // namespace
