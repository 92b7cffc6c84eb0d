//===- DynamicShapesTest.cpp - one module, many shapes --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A module with symbolic sizes beside modules that the reference makes for
// each fixed shape, and beside contexts that have run nothing before.
//
//===----------------------------------------------------------------------===//

#include "test/e2e/Models.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;

/// Convolution, pooling, a product over a symbolic size, softmax and joins:
/// values of many sizes that live at the same time.
static const char *const mixed = R"(
<ir_version: 8, opset_import: ["": 17]>
mixed (float[N,3,H,W] x, float[N,H] m) => (float[N,H,4] y, float[N,4] z)
<float[4,3,3,3] w, float[4,4] p, float[1] half = {0.5},
 int64[1] one = {1}, int64[1] two = {2}>
{
  c = Conv <pads = [1, 1, 1, 1]> (x, w)
  r = Relu (c)
  a = ReduceMean <axes = [3], keepdims = 0> (r)
  t = Transpose <perm = [0, 2, 1]> (a)
  q = MatMul (t, p)
  s = MatMul (q, a)
  d = Mul (s, half)
  f = Softmax <axis = -1> (d)
  v = MatMul (f, t)
  j = Concat <axis = 1> (v, t)
  g = ReduceSum <keepdims = 0> (j, one)
  k = Unsqueeze (m, two)
  y = Add (v, k)
  z = Mul (g, half)
}
)";

namespace {

class DynamicShapes : public testing::Test {
protected:
  void SetUp() override {
    // The weights, which would be long to read.
    std::string text = mixed;
    fill(text, "float[4,3,3,3] w", 108);
    fill(text, "float[4,4] p", 16);
    path = writeModel(text);
    module = compile(path);
    ASSERT_TRUE(module);
  }
  void TearDown() override { std::filesystem::remove(path); }

  static void fill(std::string &text, const std::string &name, int count) {
    std::string values = " = {";
    for (int i = 0; i < count; ++i) {
      values += (i ? ", " : "") + std::to_string((i * 37 % 19 - 9) / 16.0);
    }
    text.insert(text.find(name) + name.size(), values + "}");
  }

  static Shapes shapes(int64_t n, int64_t h, int64_t w) {
    return {{"x", {n, 3, h, w}}, {"m", {n, h}}};
  }
  static Tensors inputs(const Shapes &shapes) {
    Tensors tensors;
    tensors.push_back(randomTensor(shapes.at("x"), 1));
    tensors.push_back(randomTensor(shapes.at("m"), 2));
    return tensors;
  }
  std::unique_ptr<Context> fresh(unsigned threads = 1) const {
    return std::move(*Context::create(module, {threads}));
  }

  std::filesystem::path path;
  std::shared_ptr<const Module> module;
};

} // namespace

TEST_F(DynamicShapes, AgreesWithTheReferenceForEachShape) {
  auto context = fresh(2);
  for (const Shapes &each :
       {shapes(1, 1, 1), shapes(2, 5, 7), shapes(1, 16, 16), shapes(3, 17, 1),
        shapes(1, 33, 40), shapes(5, 2, 64)}) {
    SCOPED_TRACE(ShapeRef(each.at("x")).toString());
    CompileOptions options;
    options.shapes = each;
    options.reference = true;
    auto reference = compile(path, options);
    ASSERT_TRUE(reference);
    auto other = std::move(*Context::create(reference, {1}));
    Tensors given = inputs(each);
    Tensors actual = run(*context, given), expected = run(*other, given);
    ASSERT_EQ(actual.size(), 2U);
    ASSERT_EQ(expected.size(), 2U);
    EXPECT_LE(largestDifference(actual[0], expected[0]), 1e-4);
    EXPECT_LE(largestDifference(actual[1], expected[1]), 1e-3);
  }
}

TEST_F(DynamicShapes, TakesSizesOfZero) {
  auto context = fresh();
  Tensors none = run(*context, inputs(shapes(0, 4, 4)));
  ASSERT_EQ(none.size(), 2U);
  EXPECT_EQ(none[0].shape(), (std::vector<int64_t>{0, 4, 4}));
  EXPECT_EQ(none[1].shape(), (std::vector<int64_t>{0, 4}));
  Tensors flat = run(*context, inputs(shapes(2, 0, 3)));
  ASSERT_EQ(flat.size(), 2U);
  EXPECT_EQ(flat[0].shape(), (std::vector<int64_t>{2, 0, 4}));
  // A sum of nothing is zero.
  EXPECT_EQ(flat[1].shape(), (std::vector<int64_t>{2, 4}));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(flat[1].as<float>()[i], 0.0F);
  }
  // And the context is as good as new.
  Tensors given = inputs(shapes(2, 5, 7));
  EXPECT_TRUE(same(run(*context, given), run(*fresh(), given)));
}

TEST_F(DynamicShapes, AlternatingShapesAreAsInFreshContexts) {
  auto context = fresh();
  Shapes small = shapes(1, 3, 5), large = shapes(3, 24, 20);
  for (const Shapes &each : {small, large, small, large, large, small}) {
    SCOPED_TRACE(ShapeRef(each.at("x")).toString());
    Tensors given = inputs(each);
    EXPECT_TRUE(same(run(*context, given), run(*fresh(), given)));
  }
}

TEST_F(DynamicShapes, RefusesShapesThatDisagree) {
  auto context = fresh();
  Tensors given = inputs(shapes(2, 5, 7));
  given[1] = randomTensor({3, 5}, 2);
  auto outputs = context->run(viewsOf(given));
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.status().code(), ErrorCode::InputShape);
  given[1] = randomTensor({2, 5}, 2);
  EXPECT_EQ(run(*context, given).size(), 2U);
}
