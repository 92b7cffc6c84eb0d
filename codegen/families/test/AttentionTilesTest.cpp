//===- AttentionTilesTest.cpp - attention in tiles of a block -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/Grid.h"
#include "codegen/families/test/AttentionTilesFixture.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(Families, AttentionTiles,
                         testing::Values(Way{"f32", false}, Way{"f32", true},
                                         Way{"f16", false}, Way{"bf16", false}),
                         [](const auto &info) {
                           return info.param.element +
                                  std::string(info.param.tf32 ? "_tf32" : "");
                         });

TEST_P(AttentionTiles, OpenSizes) {
  AttentionVariety variety;
  auto region = build(variety);
  ASSERT_TRUE(region);
  for (int queries : {1, 5, 16, 33}) {
    for (int keys : {1, 16, 70}) {
      auto test = problem(queries, keys, variety);
      check(*region, test, plain);
    }
  }
}

class ShortAttentionTiles : public AttentionTiles {};
INSTANTIATE_TEST_SUITE_P(Families, ShortAttentionTiles,
                         testing::Values(Way{"f16", false}, Way{"bf16", false}),
                         [](const auto &info) {
                           return std::string(info.param.element);
                         });

// As in a model of 16-bit floats.
TEST_P(ShortAttentionTiles, RoundedScores) {
  AttentionVariety variety;
  variety.roundsScores = variety.roundsWeights = true;
  variety.clearsRows = true;
  variety.mask = R"(
          %none = arith.constant 0xFF800000 : f32
          %u = arith.mulf %s, %scale : f32
          %see = arith.cmpi sle, %j, %i : index
          %x = arith.select %see, %u, %none : f32)";
  for (bool isReference : {false, true}) {
    variety.element = GetParam().element;
    std::function<mlir::DictionaryAttr(mlir::MLIRContext *)> parameters;
    if (isReference) {
      parameters = [](mlir::MLIRContext *context) {
        return families::Grid{32, 8}.addTo(
            families::AttentionParameters().toAttribute(context,
                                                        "reference.simt"));
      };
    }
    auto region = SimtRegion::compile(attentionModule(variety),
                                      *findTarget("sm_80"), parameters);
    ASSERT_TRUE(region);
    EXPECT_EQ(region->tactic,
              isReference ? "reference.simt" : GetParam().tactic());
    auto test = problem(18, 70, variety);
    run(*region, test);
    std::vector<float> expected =
        test.expected([](float s, int i, int j, float) {
          return j <= i ? s * 0.25f : -infinity;
        });
    for (int i = 0; i < test.headCount * test.width; ++i) {
      expected[test.headCount * test.width + i] = 0;
    }
    expectClose(test.out, expected, GetParam().tolerance());
  }
}

// Weights of f32 must not be rounded to the type of the values.
TEST_P(ShortAttentionTiles, WideWeights) {
  AttentionVariety variety;
  variety.element = GetParam().element;
  auto region =
      SimtRegion::compile(attentionModule(variety), *findTarget("sm_80"));
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, "attention.tiles");
  auto test = problem(18, 70, variety);
  run(*region, test);
  expectClose(test.out, test.expected(plain), 2e-5f);
}

TEST_P(AttentionTiles, AlignedHeads) {
  for (int depth : {32, 64, 128}) {
    AttentionVariety variety;
    variety.depth = variety.width = depth;
    variety.queries = "64";
    variety.keys = "128";
    variety.reciprocal = depth == 32;
    variety.separateExp = depth == 64;
    auto region = build(variety);
    ASSERT_TRUE(region);
    auto test = problem(64, 128, variety);
    check(*region, test, plain);
    EXPECT_EQ(region->counters.sharedConflicts, 0u) << depth;
  }
}

TEST_P(AttentionTiles, KeysBySlices) {
  AttentionVariety variety;
  variety.keysLast = true;
  auto region = build(variety);
  ASSERT_TRUE(region);
  auto test = problem(20, 70, variety);
  check(*region, test, plain);
}

TEST_P(AttentionTiles, AddedMask) {
  AttentionVariety variety;
  variety.mask = R"(
          %w = tw.load %m[%i, %j] : MT -> f32
          %u = arith.mulf %s, %scale : f32
          %x = arith.addf %u, %w : f32)";
  auto region = build(variety);
  ASSERT_TRUE(region);
  for (int queries : {7, 40}) {
    auto test = problem(queries, 100, variety);
    for (int i = 0; i < queries; ++i) {
      for (int j = 0; j < i % 100; ++j) {
        test.mask[i * 100 + j] = std::numeric_limits<float>::lowest();
      }
    }
    check(*region, test,
          [](float s, int, int, float m) { return s * 0.25f + m; });
  }
}

// A query sees the keys up to its own position, the first sees none.
TEST_P(AttentionTiles, CausalWithEmptyRows) {
  AttentionVariety variety;
  variety.mask = R"(
          %none = arith.constant 0xFF800000 : f32
          %u = arith.mulf %s, %scale : f32
          %see = arith.cmpi slt, %j, %i : index
          %x = arith.select %see, %u, %none : f32)";
  auto region = build(variety);
  ASSERT_TRUE(region);
  for (int queries : {3, 90}) {
    auto test = problem(queries, 90, variety);
    run(*region, test);
    std::vector<float> expected =
        test.expected([](float s, int i, int j, float) {
          return j < i ? s * 0.25f : -infinity;
        });
    EXPECT_TRUE(std::isnan(expected.front()));
    expectClose(test.out, expected, GetParam().tolerance());
  }
}

// Early tiles of keys that are masked whole leave no trace.
TEST_P(AttentionTiles, EmptyTiles) {
  AttentionVariety variety;
  variety.mask = R"(
          %none = arith.constant 0xFF800000 : f32
          %limit = arith.constant 290 : index
          %u = arith.mulf %s, %scale : f32
          %see = arith.cmpi sge, %j, %limit : index
          %x = arith.select %see, %u, %none : f32)";
  auto region = build(variety);
  ASSERT_TRUE(region);
  auto test = problem(18, 300, variety);
  check(*region, test, [](float s, int, int j, float) {
    return j >= 290 ? s * 0.25f : -infinity;
  });
}

// A row without weights sums to zero, but for values that are not finite.
TEST_P(AttentionTiles, ClearedRows) {
  AttentionVariety variety;
  variety.clearsRows = true;
  auto region = build(variety);
  ASSERT_TRUE(region);
  auto test = problem(18, 70, variety);
  test.v[5] = infinity;
  run(*region, test);
  std::vector<float> expected = test.expected(plain);
  for (int i = 0; i < test.headCount * test.width; ++i) {
    float &row = expected[test.headCount * test.width + i];
    row = std::isfinite(row) ? 0 : std::nanf("");
  }
  expectClose(test.out, expected, GetParam().tolerance());
}

TEST_P(AttentionTiles, Infinities) {
  AttentionVariety variety;
  auto region = build(variety);
  ASSERT_TRUE(region);
  auto test = problem(18, 80, variety);
  for (float strange : {infinity, -infinity, std::nanf("")}) {
    test.k[70 * test.depth] = strange;
    check(*region, test, plain);
  }
}

TEST_P(AttentionTiles, NoKeys) {
  AttentionVariety variety;
  auto region = build(variety);
  ASSERT_TRUE(region);
  auto test = problem(18, 0, variety);
  run(*region, test);
  expectClose(test.out, std::vector<float>(test.out.size(), 0));
}

TEST_P(AttentionTiles, EveryKindOfTile) {
  for (const families::AttentionTile &tile :
       {families::AttentionTile{1, 1, 1, 16, 2},
        {2, 1, 2, 32, 3},
        {4, 1, 1, 32, 2},
        {8, 1, 1, 16, 2},
        {1, 4, 1, 16, 2},
        {2, 2, 1, 16, 3},
        {1, 2, 2, 32, 2}}) {
    AttentionVariety variety;
    variety.depth = variety.width = 32;
    auto region = build(variety, tile);
    ASSERT_TRUE(region);
    for (int keys : {33, 100}) {
      auto test = problem(tile.rows() + 3, keys, variety);
      check(*region, test, plain);
    }
  }
}

// Heads of a group are rows of one tile: also those of a decoder, and of
// heads that share one of keys without a division.
TEST_P(AttentionTiles, GroupsOfHeads) {
  for (int group : {1, 2, 4}) {
    AttentionVariety variety;
    variety.group = group;
    auto region = build(variety);
    ASSERT_TRUE(region);
    EXPECT_EQ(*region->launch.tasks.evaluate(
                  [](llvm::StringRef) { return int64_t(1); }),
              AttentionProblemCase::headCount / group);
    for (int queries : {1, 19}) {
      auto test = problem(queries, 70, variety);
      check(*region, test, plain);
    }
  }
}

// What the model counts is what the kernel moves: queries and results once,
// keys and values once for each tile of queries.
TEST_P(AttentionTiles, TrafficIsWhatTheTileNeeds) {
  for (const families::AttentionTile &tile :
       {families::AttentionTile{1, 1, 1, 16, 2},
        {4, 1, 1, 32, 2},
        {2, 1, 2, 16, 3},
        {1, 4, 1, 16, 2}}) {
    AttentionVariety variety;
    variety.depth = variety.width = 64;
    variety.queries = "128";
    variety.keys = "160";
    auto region = build(variety, tile);
    ASSERT_TRUE(region);
    auto test = problem(128, 160, variety);
    check(*region, test, plain);
    int64_t bytes = std::string(GetParam().element) == "f32" ? 4 : 2;
    families::AttentionProblem model;
    model.group = 2;
    model.heads = AttentionProblemCase::headCount / model.group;
    model.queries = 128;
    model.keys = 160;
    model.depth = model.values = 64;
    model.resultBytes = 4;
    for (int64_t &operand : model.operandBytes) {
      operand = bytes;
    }
    constexpr double sectorBytes = 32;
    double moved = double(region->counters.globalLoads.sectors +
                          region->counters.globalStores.sectors) *
                   sectorBytes;
    EXPECT_NEAR(moved / families::attentionTraffic(tile, model), 1, 0.05);
    EXPECT_EQ(region->counters.sharedConflicts, 0u);
  }
}

// The largest heads have the most registers.
TEST_P(AttentionTiles, NoGpuSpills) {
  std::vector<int> depths = {128};
  if (getenv("TILEWRIGHT_EVERY_TILE")) {
    depths = {16, 32, 64, 80, 96, 128};
  }
  for (const TargetSpec &target : gpuTargets()) {
    for (int depth : depths) {
      SCOPED_TRACE(std::string(target.name) + ", " + std::to_string(depth));
      AttentionVariety variety;
      variety.depth = variety.width = depth;
      variety.mask = R"(
          %w = tw.load %m[%i, %j] : MT -> f32
          %u = arith.mulf %s, %scale : f32
          %x = arith.addf %u, %w : f32)";
      build(variety, std::nullopt, target);
    }
  }
}

} // namespace
