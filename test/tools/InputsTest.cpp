//===- InputsTest.cpp -----------------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/Inputs.h"
#include "tools/support/Npy.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tilewright;

static const std::vector<Parameter> parameters = {
    {"x", DType::F32, {"batch", "3"}},
    {"mask", DType::I64, {"batch", "length"}}};

static std::vector<int64_t> shapeOf(const MadeInputs &made, size_t index) {
  return made.tensors[index].shape();
}

TEST(Inputs, AssumesThatOpenSizesAreOne) {
  auto made = makeInputs(parameters, {});
  ASSERT_TRUE(made) << made.status().toString();
  EXPECT_EQ(shapeOf(*made, 0), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(shapeOf(*made, 1), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(made->assumed, (std::vector<std::string>{"batch", "length"}));
}

TEST(Inputs, TakesSizesFromShapes) {
  InputOptions options;
  options.shapes = {{"mask", {4, 7}}};
  auto made = makeInputs(parameters, options);
  ASSERT_TRUE(made) << made.status().toString();
  EXPECT_EQ(shapeOf(*made, 0), (std::vector<int64_t>{4, 3}));
  EXPECT_TRUE(made->assumed.empty());
}

TEST(Inputs, TakesSizesFromOtherInputs) {
  std::string path = testing::TempDir() + "/inputs-test.npy";
  std::vector<float> values(15);
  std::vector<int64_t> shape = {5, 3};
  ASSERT_TRUE(writeNpy(path, TensorView(DType::F32, shape, values.data())));
  InputOptions options;
  options.bindings = {{"x", InputBinding::Source::File, path}};
  auto made = makeInputs(parameters, options);
  ASSERT_TRUE(made) << made.status().toString();
  EXPECT_EQ(shapeOf(*made, 1), (std::vector<int64_t>{5, 1}));
}

TEST(Inputs, DrawsIntegersFromZeroAndOne) {
  InputOptions options;
  options.shapes = {{"mask", {8, 64}}};
  auto made = makeInputs(parameters, options);
  ASSERT_TRUE(made) << made.status().toString();
  int64_t sum = 0;
  for (int64_t i = 0; i < 8 * 64; ++i) {
    int64_t value = made->tensors[1].as<int64_t>()[i];
    EXPECT_TRUE(value == 0 || value == 1);
    sum += value;
  }
  EXPECT_GT(sum, 0);
  EXPECT_LT(sum, 8 * 64);
}

TEST(Inputs, DrawsTheSameDataForTheSameSeed) {
  auto values = [](uint64_t seed) {
    InputOptions options;
    options.seed = seed;
    auto made = makeInputs(parameters, options);
    const float *data = made->tensors[0].as<float>();
    return std::vector<float>(data, data + 3);
  };
  EXPECT_EQ(values(1), values(1));
  EXPECT_NE(values(1), values(2));
}

TEST(Inputs, RefusesUnknownNamesAndImpossibleShapes) {
  InputOptions options;
  options.bindings = {{"y", InputBinding::Source::Ones, ""}};
  auto unknown = makeInputs(parameters, options);
  EXPECT_EQ(unknown.status().code(), ErrorCode::InputName);
  EXPECT_NE(unknown.status().message().find("'x', 'mask'"), std::string::npos);
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{1, 4}, std::vector<int64_t>{1}}) {
    InputOptions impossible;
    impossible.shapes = {{"x", shape}};
    EXPECT_EQ(makeInputs(parameters, impossible).status().code(),
              ErrorCode::InputShape);
  }
}
