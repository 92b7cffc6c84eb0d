//===- BuiltinsTest.cpp -----------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Elements.h"
#include "runtime/test/TestModule.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tilewright;
using namespace tilewright::test;
using format::BuiltinT;
using D = tilewright::DType;

namespace {
/// An output: its type, and its sizes, where -1 is the defined symbol.
struct Out {
  D dtype;
  std::vector<int64_t> shape;
};
} // namespace

/// Runs one builtin on constants.
static Result<std::vector<Tensor>>
call(const std::string &name, const std::vector<const Tensor *> &inputs,
     const std::vector<Out> &outputs, std::vector<int64_t> ints = {},
     std::vector<double> floats = {}) {
  TestModule b;
  Ids ids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Ids dims;
    for (int64_t dim :
         inputs[i] ? inputs[i]->shape() : std::vector<int64_t>()) {
      dims.push_back(b.size(dim));
    }
    ids.push_back(inputs[i]
                      ? b.parameter(0, "x" + std::to_string(i),
                                    format::DType(inputs[i]->dtype()), dims)
                      : 0);
  }
  uint32_t symbol = b.symbol("u");
  uint32_t defined = b.expr(symbol);
  Ids outIds;
  bool defines = false;
  for (const Out &out : outputs) {
    Ids dims;
    for (int64_t dim : out.shape) {
      defines |= dim < 0;
      dims.push_back(dim < 0 ? defined : b.size(dim));
    }
    outIds.push_back(b.owned("y", format::DType(out.dtype), dims));
  }
  auto &builtin = b.command<BuiltinT>(0);
  builtin.name = name;
  builtin.ints = std::move(ints);
  builtin.floats = std::move(floats);
  for (size_t i = 0; i < inputs.size(); ++i) {
    builtin.inputs.push_back(inputs[i] ? int32_t(ids[i]) : -1);
  }
  builtin.outputs.assign(outIds.begin(), outIds.end());
  if (defines) {
    builtin.defines = {symbol};
    b.lastCommand(0).evaluate = {defined};
  }
  for (uint32_t id : outIds) {
    b.result(0, id);
  }
  auto module = b.open();
  if (!module) {
    return module.status();
  }
  std::vector<TensorView> views;
  for (const Tensor *input : inputs) {
    if (input) {
      views.push_back(input->view());
    }
  }
  return (*Context::create(*module, {2}))->run(views);
}

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
static const float notANumber = std::numeric_limits<float>::quiet_NaN();

TEST(Builtins, NonZero) {
  Tensor x = tensor<float>(D::F32, {2, 3}, {0, 1, -0.0f, notANumber, 0, 2});
  auto y = call("nonzero", {&x}, {{D::I64, {2, -1}}});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_EQ(elements<int64_t>((*y)[0]), (Ints{0, 1, 1, 1, 0, 2}));
  Tensor scalar = tensor<int32_t>(D::I32, {}, {5});
  y = call("nonzero", {&scalar}, {{D::I64, {0, -1}}});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_EQ((*y)[0].shape(), (Ints{0, 1}));
  Tensor empty = tensor<int32_t>(D::I32, {0, 3}, {});
  y = call("nonzero", {&empty}, {{D::I64, {2, -1}}});
  EXPECT_EQ((*y)[0].shape(), (Ints{2, 0}));
}

TEST(Builtins, Compress) {
  Tensor x = tensor<float>(D::F32, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor some = tensor<uint8_t>(D::Bool, {2}, {0, 1});
  auto y = call("compress", {&x, &some}, {{D::F32, {2, -1}}}, {1});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_EQ(elements<float>((*y)[0]), (Floats{2, 5}));
  y = call("compress", {&x, &some}, {{D::F32, {-1, 3}}}, {-2});
  EXPECT_EQ(elements<float>((*y)[0]), (Floats{4, 5, 6}));
  Tensor flat = tensor<uint8_t>(D::Bool, {5}, {1, 0, 0, 1, 1});
  y = call("compress", {&x, &flat}, {{D::F32, {-1}}});
  EXPECT_EQ(elements<float>((*y)[0]), (Floats{1, 4, 5}));
  EXPECT_EQ(
      call("compress", {&x, &some}, {{D::F32, {2, -1}}}, {2}).status().code(),
      ErrorCode::DataInvalid);
}

TEST(Builtins, Unique) {
  Tensor x = tensor<float>(D::F32, {6}, {2, 1, 1, 3, 4, 3});
  std::vector<Out> outs = {
      {D::F32, {-1}}, {D::I64, {-1}}, {D::I64, {6}}, {D::I64, {-1}}};
  auto y = call("unique", {&x}, outs, {1});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_EQ(elements<float>((*y)[0]), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(elements<int64_t>((*y)[1]), (Ints{1, 0, 3, 4}));
  EXPECT_EQ(elements<int64_t>((*y)[2]), (Ints{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(elements<int64_t>((*y)[3]), (Ints{2, 1, 2, 1}));
  y = call("unique", {&x}, outs, {0});
  EXPECT_EQ(elements<float>((*y)[0]), (Floats{2, 1, 3, 4}));
  EXPECT_EQ(elements<int64_t>((*y)[1]), (Ints{0, 1, 3, 4}));
  EXPECT_EQ(elements<int64_t>((*y)[2]), (Ints{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(elements<int64_t>((*y)[3]), (Ints{1, 2, 2, 1}));

  Tensor rows = tensor<int32_t>(D::I32, {3, 2}, {5, 1, 2, 9, 5, 1});
  y = call("unique", {&rows}, {{D::I32, {-1, 2}}}, {1, 0});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_EQ(elements<int32_t>((*y)[0]), (std::vector<int32_t>{2, 9, 5, 1}));
  Tensor columns = tensor<int32_t>(D::I32, {2, 3}, {5, 2, 5, 1, 9, 1});
  y = call("unique", {&columns}, {{D::I32, {2, -1}}}, {1, 1});
  EXPECT_EQ(elements<int32_t>((*y)[0]), (std::vector<int32_t>{2, 5, 9, 1}));
}

TEST(Builtins, TopK) {
  Tensor x = tensor<float>(D::F32, {2, 4}, {1, 3, 3, 2, notANumber, 0, 5, -1});
  Tensor two = tensor<int64_t>(D::I64, {1}, {2});
  auto y = call("topk", {&x, &two}, {{D::F32, {2, -1}}, {D::I64, {2, -1}}},
                {-1, 1, 1});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_EQ(elements<int64_t>((*y)[1]), (Ints{1, 2, 0, 2}));
  EXPECT_TRUE(std::isnan((*y)[0].as<float>()[2]));
  // The same with sizes that the plan knows.
  y = call("topk", {&x, &two}, {{D::F32, {2, 2}}, {D::I64, {2, 2}}}, {1, 0, 1});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_EQ(elements<int64_t>((*y)[1]), (Ints{0, 3, 3, 1}));
  EXPECT_EQ(elements<float>((*y)[0]), (Floats{1, 2, -1, 0}));
  // Along the first axis.
  Tensor one = tensor<int64_t>(D::I64, {1}, {1});
  y = call("topk", {&x, &one}, {{D::F32, {1, 4}}, {D::I64, {1, 4}}}, {0, 1, 1});
  EXPECT_EQ(elements<int64_t>((*y)[1]), (Ints{1, 0, 1, 0}));

  Tensor five = tensor<int64_t>(D::I64, {1}, {5});
  auto bad = call("topk", {&x, &five}, {{D::F32, {2, -1}}, {D::I64, {2, -1}}},
                  {1, 1, 1});
  EXPECT_EQ(bad.status().code(), ErrorCode::DataInvalid);
  EXPECT_EQ(bad.status().message(), "K of TopK is 5, and the axis has 4 "
                                    "elements in node 'some_node'");
}

TEST(Builtins, NonMaxSuppression) {
  Tensor boxes = tensor<float>(
      D::F32, {1, 6, 4}, {0, 0,  1, 1,  0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                          0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100,   1, 101});
  Tensor scores =
      tensor<float>(D::F32, {1, 1, 6}, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f});
  Tensor most = tensor<int64_t>(D::I64, {1}, {3});
  Tensor overlap = tensor<float>(D::F32, {1}, {0.5f});
  Tensor score = tensor<float>(D::F32, {1}, {0.4f});
  std::vector<Out> out = {{D::I64, {-1, 3}}};
  auto y = call("non_max_suppression",
                {&boxes, &scores, &most, &overlap, nullptr}, out, {0});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_EQ(elements<int64_t>((*y)[0]), (Ints{0, 0, 3, 0, 0, 0, 0, 0, 5}));
  y = call("non_max_suppression", {&boxes, &scores, &most, &overlap, &score},
           out, {0});
  EXPECT_EQ(elements<int64_t>((*y)[0]), (Ints{0, 0, 3, 0, 0, 0}));
  y = call("non_max_suppression", {&boxes, &scores}, out, {0});
  EXPECT_EQ((*y)[0].shape(), (Ints{0, 3}));
}

TEST(Builtins, Random) {
  auto uniform = [](int64_t seed) {
    auto y = call("random_uniform", {}, {{D::F32, {10000}}}, {seed}, {2, 4});
    return elements<float>((*y)[0]);
  };
  Floats a = uniform(1);
  EXPECT_EQ(a, uniform(1));
  EXPECT_NE(a, uniform(2));
  double mean = 0;
  for (float value : a) {
    EXPECT_GE(value, 2);
    EXPECT_LE(value, 4);
    mean += value / 1e4;
  }
  EXPECT_NEAR(mean, 3, 0.05);

  auto normal = call("random_normal", {}, {{D::F64, {20000}}}, {7}, {5, 2});
  ASSERT_TRUE(normal) << normal.status().toString();
  double sum = 0;
  double squares = 0;
  for (double value : elements<double>((*normal)[0])) {
    sum += value;
    squares += (value - 5) * (value - 5);
  }
  EXPECT_NEAR(sum / 20000, 5, 0.06);
  EXPECT_NEAR(squares / 20000, 4, 0.15);

  Tensor chances = tensor<float>(D::F32, {3}, {0, 1, 0.5f});
  auto coins = call("bernoulli", {&chances}, {{D::Bool, {3}}}, {3});
  ASSERT_TRUE(coins) << coins.status().toString();
  EXPECT_EQ((*coins)[0].as<uint8_t>()[0], 0);
  EXPECT_EQ((*coins)[0].as<uint8_t>()[1], 1);

  Tensor logits = tensor<float>(D::F32, {2, 3}, {0, -1000, -1000, -99, 0, 0});
  auto draws = call("multinomial", {&logits}, {{D::I32, {2, 50}}}, {3});
  ASSERT_TRUE(draws) << draws.status().toString();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ((*draws)[0].as<int32_t>()[i], 0);
    EXPECT_GE((*draws)[0].as<int32_t>()[50 + i], 1);
  }
}

TEST(Builtins, Determinant) {
  Tensor x = tensor<float>(D::F32, {2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0});
  auto y = call("det", {&x}, {{D::F32, {2}}});
  ASSERT_TRUE(y) << y.status().toString();
  EXPECT_NEAR((*y)[0].as<float>()[0], -2, 1e-6);
  EXPECT_EQ((*y)[0].as<float>()[1], -1);
}

TEST(Builtins, TypesThatAreNotSupported) {
  Tensor x = tensor<uint8_t>(D::F8E8M0, {2}, {1, 2});
  EXPECT_EQ(call("nonzero", {&x}, {{D::I64, {1, -1}}}).status().code(),
            ErrorCode::UnsupportedType);
  EXPECT_EQ(call("unique", {&x}, {{D::F8E8M0, {-1}}}, {1}).status().code(),
            ErrorCode::UnsupportedType);
}

TEST(Elements, HalvesRoundToNearestEven) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    Half half{uint16_t(bits)};
    float value = keyOf(half);
    if (value == value) {
      EXPECT_EQ(elementFromDouble<Half>(value).bits, bits);
    }
    BFloat bfloat{uint16_t(bits)};
    value = keyOf(bfloat);
    if (value == value) {
      EXPECT_EQ(elementFromDouble<BFloat>(value).bits, bits);
    }
  }
  EXPECT_EQ(elementFromDouble<Half>(65519.0).bits, 0x7bff);
  EXPECT_EQ(elementFromDouble<Half>(65520.0).bits, 0x7c00);
  EXPECT_EQ(elementFromDouble<Half>(1 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(elementFromDouble<Half>(1 + 3 * 0x1p-11).bits, 0x3c02);
  EXPECT_EQ(elementFromDouble<Half>(0x1p-25).bits, 0);
}
