//===- AttentionTest.cpp - attention in one kernel --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

#include <limits>

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::string tensor(const std::vector<std::string> &dims,
                   const std::string &element = "f32") {
  std::string shape, encoding;
  bool isDynamic = false;
  for (const std::string &dim : dims) {
    bool isSymbol = !isdigit(dim.front());
    isDynamic |= isSymbol;
    shape += (isSymbol ? "?" : dim) + "x";
    encoding += (encoding.empty() ? "" : ", ") + dim;
  }
  return "tensor<" + shape + element +
         (isDynamic ? ", #tw.dims<[" + encoding + "]>" : "") + ">";
}

void replaceAll(std::string &text, const std::string &from,
                const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// What a region differs in. H heads of queries, H / 2 of keys and values.
struct Variety {
  std::string heads = "4", queries = "M", keys = "N";
  bool keysLast = false;    ///< keys lie as [head, depth, key]
  bool reciprocal = false;  ///< weights are exponentials times 1 / sum
  bool clearsRows = false;  ///< the second query has no weights
  bool separateExp = false; ///< exponentials are a map of their own
  /// The lines between %s, a sum of products, and %x, the score.
  std::string mask = "%x = arith.mulf %s, %scale : f32";
};

constexpr int depth = 21, width = 37, headCount = 4;

std::string region(const Variety &v) {
  std::string text = R"(
    func.func @f(%q: QT, %k: KT, %v: VT, %mask: MT) {
      %r = tw.fused @attention(%a = %q : QT, %b = %k : KT, %c = %v : VT, %m = %mask : MT) attributes {attention} {
        %scores = tw.reduce add (%h, %i, %j) over (%r) in <[21]> {
          %two = arith.constant 2 : index
          %g = arith.floordivsi %h, %two : index
          %x = tw.load %a[%h, %i, %r] : QT -> f32
          %y = tw.load %b[KINDEX] : KT -> f32
          %p = arith.mulf %x, %y : f32
          tw.yield %p : f32
        } : ST
        %masked = tw.map(%h, %i, %j) {
          %scale = arith.constant 0.25 : f32
          %s = tw.load %scores[%h, %i, %j] : ST -> f32
          MASK
          tw.yield %x : f32
        } : ST
        %max = tw.reduce max (%h, %i) over (%r) in <[KEYS]> {
          %x = tw.load %masked[%h, %i, %r] : ST -> f32
          tw.yield %x : f32
        } : RT
        EXPMAP
        %sum = tw.reduce add (%h, %i) over (%j) in <[KEYS]> {
          EXP
          tw.yield %e : f32
        } : RT
        ROWMAP
        %weights = tw.map(%h, %i, %j) {
          EXP
          SCALE
          CLEAR
          tw.yield YIELD : f32
        } : ST
        %values = tw.reduce add (%i, %h, %d) over (%r) in <[KEYS]> {
          %two = arith.constant 2 : index
          %g = arith.floordivsi %h, %two : index
          %x = tw.load %weights[%h, %i, %r] : ST -> f32
          %y = tw.load %c[%g, %r, %d] : VT -> f32
          %p = arith.mulf %x, %y : f32
          tw.yield %p : f32
        } : OT
        %out = tw.map(%i, %h, %d) {
          %x = tw.load %values[%i, %h, %d] : OT -> f32
          %y = arith.addf %x, %x : f32
          tw.yield %y : f32
        } : OT
        tw.yield %out : OT
      } : OT
      return
    })";
  const std::string inlineExp = R"(
          %sc = tw.load %masked[%h, %i, %j] : ST -> f32
          %mx = tw.load %max[%h, %i] : RT -> f32
          %df = arith.subf %sc, %mx : f32
          %e = math.exp %df : f32)";
  replaceAll(text, "EXPMAP",
             v.separateExp ? "%exps = tw.map(%h, %i, %j) {" + inlineExp + R"(
          tw.yield %e : f32
        } : ST)"
                           : "");
  replaceAll(text, "EXP\n",
             (v.separateExp ? "%e = tw.load %exps[%h, %i, %j] : ST -> f32"
                            : inlineExp) +
                 std::string("\n"));
  replaceAll(text, "ROWMAP",
             v.reciprocal ? R"(%inverse = tw.map(%h, %i) {
          %one = arith.constant 1.0 : f32
          %s = tw.load %sum[%h, %i] : RT -> f32
          %y = arith.divf %one, %s : f32
          tw.yield %y : f32
        } : RT)"
                          : "");
  replaceAll(text, "SCALE",
             v.reciprocal ? R"(
          %s = tw.load %inverse[%h, %i] : RT -> f32
          %w = arith.mulf %e, %s : f32)"
                          : R"(
          %s = tw.load %sum[%h, %i] : RT -> f32
          %w = arith.divf %e, %s : f32)");
  replaceAll(text, "CLEAR",
             v.clearsRows ? R"(
          %one = arith.constant 1 : index
          %zero = arith.constant 0.0 : f32
          %clear = arith.cmpi eq, %i, %one : index
          %y = arith.select %clear, %zero, %w : f32)"
                          : "");
  replaceAll(text, "YIELD", v.clearsRows ? "%y" : "%w");
  replaceAll(text, "MASK", v.mask);
  replaceAll(text, "KINDEX", v.keysLast ? "%g, %r, %j" : "%g, %j, %r");
  replaceAll(text, "QT", tensor({v.heads, v.queries, "21"}));
  replaceAll(text, "KT",
             v.keysLast ? tensor({"2", "21", v.keys})
                        : tensor({"2", v.keys, "21"}));
  replaceAll(text, "VT", tensor({"2", v.keys, "37"}));
  replaceAll(text, "MT", tensor({v.queries, v.keys}));
  replaceAll(text, "ST", tensor({v.heads, v.queries, v.keys}));
  replaceAll(text, "RT", tensor({v.heads, v.queries}));
  replaceAll(text, "OT", tensor({v.queries, v.heads, "37"}));
  replaceAll(text, "KEYS", v.keys);
  return text;
}

/// One problem and its plain solution.
struct Problem {
  Problem(int queries, int keys, bool keysLast)
      : queries(queries), keys(keys), keysLast(keysLast),
        q(randomFloats(headCount * queries * depth, 1)),
        k(randomFloats(2 * keys * depth, 2)),
        v(randomFloats(2 * keys * width, 3)),
        mask(randomFloats(queries * keys, 4)),
        out(queries * headCount * width, -7) {}

  std::vector<float>
  expected(const std::function<float(float, int, int, float)> &score) const {
    std::vector<float> result(out.size());
    for (int h = 0; h < headCount; ++h) {
      for (int i = 0; i < queries; ++i) {
        std::vector<double> row(keys);
        double greatest = -infinity, sum = 0;
        for (int j = 0; j < keys; ++j) {
          double product = 0;
          for (int r = 0; r < depth; ++r) {
            product += double(q[(h * queries + i) * depth + r]) * key(h, j, r);
          }
          row[j] = score(product, i, j, mask[i * keys + j]);
          bool isGreater = std::isnan(row[j]) || row[j] > greatest;
          greatest = isGreater ? row[j] : greatest;
        }
        for (double &x : row) {
          x = std::exp(x - greatest);
          sum += x;
        }
        for (int d = 0; d < width; ++d) {
          double value = 0;
          for (int j = 0; j < keys; ++j) {
            value += row[j] / sum * v[(h / 2 * keys + j) * width + d];
          }
          result[(i * headCount + h) * width + d] = 2 * value;
        }
      }
    }
    return result;
  }

  float key(int head, int position, int r) const {
    return keysLast ? k[(head / 2 * depth + r) * keys + position]
                    : k[(head / 2 * keys + position) * depth + r];
  }

  int run(RunnableRegion &region) {
    return region.run({q.data(), k.data(), v.data(), mask.data(), out.data()},
                      {{"M", queries}, {"N", keys}});
  }

  int queries, keys;
  bool keysLast;
  std::vector<float> q, k, v, mask, out;
};

float plain(float s, int, int, float) { return s * 0.25f; }

class Attention : public RegionTest {
protected:
  std::unique_ptr<RunnableRegion> build(const Variety &variety) {
    std::unique_ptr<RunnableRegion> result = compile(region(variety));
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
      Problem problem(queries, keys, false);
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
    Problem problem(queries, 128, false);
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
    Problem problem(queries, 70, true);
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
    Problem problem(queries, 100, false);
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
    Problem problem(queries, 90, false);
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
    Problem problem(queries, 300, false);
    EXPECT_EQ(problem.run(*kernel), 0);
    expectClose(problem.out, problem.expected([](float s, int, int j, float) {
      return j >= 290 ? s * 0.25f : -infinity;
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
    Problem problem(queries, 70, false);
    problem.v[5] = infinity;
    EXPECT_EQ(problem.run(*kernel), 0);
    std::vector<float> expected = problem.expected(plain);
    for (int i = 0; i < headCount * width; ++i) {
      float &row = expected[headCount * width + i];
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
    Problem problem(queries, 80, false);
    for (float strange : {infinity, -infinity, std::nanf("")}) {
      problem.k[70 * depth] = strange;
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
    Problem problem(queries, 0, false);
    EXPECT_EQ(problem.run(*kernel), 0);
    expectClose(problem.out, std::vector<float>(problem.out.size(), 0));
  }
}

} // namespace
