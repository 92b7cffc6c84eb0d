//===- AttentionTest.cpp - attention in one kernel --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/AttentionCases.h"
#include "codegen/families/test/TestRegion.h"

#include <limits>

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int headCount = AttentionProblemCase::headCount;

using Variety = AttentionVariety;

struct Problem : AttentionProblemCase {
  Problem(int queries, int keys, const Variety &variety = {})
      : AttentionProblemCase(queries, keys, variety) {}

  int run(RunnableRegion &region) {
    return region.run({q.data(), k.data(), v.data(), mask.data(), out.data()},
                      {{"M", queries}, {"N", keys}});
  }
};

float plain(float s, int, int, float) { return s * 0.25f; }

class Attention : public RegionTest {
protected:
  std::unique_ptr<RunnableRegion> build(const Variety &variety) {
    std::unique_ptr<RunnableRegion> result = compile(attentionModule(variety));
    if (result) {
      EXPECT_EQ(result->tactic, isReference() ? "reference" : "attention.simd");
    }
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(Families, Attention, testing::ValuesIn(everyVariant()),
                         variantName);

TEST_P(Attention, OpenSizes) {
  auto kernel = build({});
  if (!kernel) {
    return;
  }
  for (int queries : {1, 2, 3, 5, 16, 17, 33, 70}) {
    for (int keys : {1, 7, 16, 64, 65, 300}) {
      Problem problem(queries, keys);
      EXPECT_EQ(problem.run(*kernel), 0);
      expectClose(problem.out, problem.expected(plain));
    }
  }
}

TEST_P(Attention, FixedSizes) {
  for (int queries : {1, 4, 24, 64}) {
    Variety variety;
    variety.queries = std::to_string(queries);
    variety.keys = "128";
    variety.reciprocal = queries == 4;
    variety.separateExp = queries == 24;
    auto kernel = build(variety);
    if (!kernel) {
      return;
    }
    Problem problem(queries, 128);
    EXPECT_EQ(problem.run(*kernel), 0);
    expectClose(problem.out, problem.expected(plain));
  }
}

TEST_P(Attention, KeysBySlices) {
  Variety variety;
  variety.keysLast = true;
  auto kernel = build(variety);
  if (!kernel) {
    return;
  }
  for (int queries : {1, 20}) {
    Problem problem(queries, 70, variety);
    EXPECT_EQ(problem.run(*kernel), 0);
    expectClose(problem.out, problem.expected(plain));
  }
}

TEST_P(Attention, AddedMask) {
  Variety variety;
  variety.mask = R"(
          %w = tw.load %m[%i, %j] : MT -> f32
          %u = arith.mulf %s, %scale : f32
          %x = arith.addf %u, %w : f32)";
  auto kernel = build(variety);
  if (!kernel) {
    return;
  }
  for (int queries : {1, 7, 40}) {
    Problem problem(queries, 100);
    for (int i = 0; i < queries; ++i) {
      for (int j = 0; j < i % 100; ++j) {
        problem.mask[i * 100 + j] = std::numeric_limits<float>::lowest();
      }
    }
    EXPECT_EQ(problem.run(*kernel), 0);
    expectClose(problem.out, problem.expected([](float s, int, int, float m) {
      return s * 0.25f + m;
    }));
  }
}

// A query sees the keys up to its own position, the first sees none; what is
// left of a row without keys is no number, as the primitives say.
TEST_P(Attention, CausalWithEmptyRows) {
  Variety variety;
  variety.mask = R"(
          %none = arith.constant 0xFF800000 : f32
          %u = arith.mulf %s, %scale : f32
          %see = arith.cmpi slt, %j, %i : index
          %x = arith.select %see, %u, %none : f32)";
  auto kernel = build(variety);
  if (!kernel) {
    return;
  }
  for (int queries : {3, 90}) {
    Problem problem(queries, 90);
    EXPECT_EQ(problem.run(*kernel), 0);
    std::vector<float> expected =
        problem.expected([](float s, int i, int j, float) {
          return j < i ? s * 0.25f : -infinity;
        });
    EXPECT_TRUE(std::isnan(expected.front()));
    expectClose(problem.out, expected);
  }
}

// Early blocks of keys that are masked whole leave no trace.
TEST_P(Attention, EmptyBlocks) {
  Variety variety;
  variety.mask = R"(
          %none = arith.constant 0xFF800000 : f32
          %limit = arith.constant 290 : index
          %u = arith.mulf %s, %scale : f32
          %see = arith.cmpi sge, %j, %limit : index
          %x = arith.select %see, %u, %none : f32)";
  auto kernel = build(variety);
  if (!kernel) {
    return;
  }
  for (int queries : {1, 18}) {
    Problem problem(queries, 300);
    EXPECT_EQ(problem.run(*kernel), 0);
    expectClose(problem.out, problem.expected([](float s, int, int j, float) {
      return j >= 290 ? s * 0.25f : -infinity;
    }));
  }
}

// Rows that see padding alone weigh all keys, hidden ones as well.
TEST_P(Attention, RowsThatSeePaddingAlone) {
  for (bool isWindow : {false, true}) {
    Variety variety = paddedDecoder(isWindow);
    auto kernel = build(variety);
    if (!kernel) {
      return;
    }
    for (int queries : {1, 18, 300}) {
      for (int padded : {0, 20, 200}) {
        Problem problem(queries, 300);
        auto score = decoderScore(problem, padded, isWindow);
        EXPECT_EQ(problem.run(*kernel), 0);
        expectClose(problem.out, problem.expected(score));
      }
    }
  }
}

// Only the last keys are not hidden.
TEST_P(Attention, Window) {
  auto kernel = build(seeing(R"(
          %size = arith.constant 30 : index
          %end = arith.addi %j, %size : index
          %near = arith.cmpi sgt, %end, %i : index
          %not_later = arith.cmpi sge, %i, %j : index
          %see = arith.andi %near, %not_later : i1)"));
  if (!kernel) {
    return;
  }
  for (int queries : {1, 3, 300}) {
    Problem problem(queries, 300);
    EXPECT_EQ(problem.run(*kernel), 0);
    expectClose(problem.out, problem.expected([](float s, int i, int j, float) {
      return j <= i && j > i - 30 ? s * 0.25f : -infinity;
    }));
  }
}

// A row without weights sums to zero, but for values that are not finite.
TEST_P(Attention, ClearedRows) {
  Variety variety;
  variety.clearsRows = true;
  auto kernel = build(variety);
  if (!kernel) {
    return;
  }
  for (int queries : {2, 18}) {
    Problem problem(queries, 70);
    problem.v[5] = infinity;
    EXPECT_EQ(problem.run(*kernel), 0);
    std::vector<float> expected = problem.expected(plain);
    for (int i = 0; i < headCount * problem.width; ++i) {
      float &row = expected[headCount * problem.width + i];
      row = std::isfinite(row) ? 0 : std::nanf("");
    }
    expectClose(problem.out, expected);
  }
}

TEST_P(Attention, Infinities) {
  auto kernel = build({});
  if (!kernel) {
    return;
  }
  for (int queries : {1, 18}) {
    Problem problem(queries, 80);
    for (float strange : {infinity, -infinity, std::nanf("")}) {
      problem.k[70 * problem.depth] = strange;
      EXPECT_EQ(problem.run(*kernel), 0);
      expectClose(problem.out, problem.expected(plain));
    }
  }
}

TEST_P(Attention, NoKeys) {
  auto kernel = build({});
  if (!kernel) {
    return;
  }
  for (int queries : {1, 18}) {
    Problem problem(queries, 0);
    EXPECT_EQ(problem.run(*kernel), 0);
    expectClose(problem.out, std::vector<float>(problem.out.size(), 0));
  }
}

} // namespace
