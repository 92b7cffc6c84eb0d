//===- ExpectationTest.cpp - outputs beside samples -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Expectation.h"

#include "tools/support/Npy.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::gpucheck;

namespace {

class Expectation : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "expectation-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    for (int64_t i = 0; i < 100; ++i) {
      output.as<float>()[i] = static_cast<float>(i) / 100;
    }
    Tensor values = std::move(*Tensor::create(DType::F32, {3}));
    Tensor indices = std::move(*Tensor::create(DType::I64, {3}));
    double sum = 0;
    for (int64_t i = 0; i < 100; ++i) {
      sum += static_cast<double>(i * i) / 1e4;
    }
    for (int64_t i = 0; i < 3; ++i) {
      indices.as<int64_t>()[i] = 40 * i;
      values.as<float>()[i] = static_cast<float>(40 * i) / 100;
    }
    ASSERT_TRUE(writeNpy(folder / "values.npy", values.view()));
    ASSERT_TRUE(writeNpy(folder / "indices.npy", indices.view()));
    ASSERT_TRUE(writeNpy(folder / "all.npy", output.view()));
    sample = {{"shape", {10, 10}},
              {"values", "values.npy"},
              {"indices", "indices.npy"},
              {"norm", std::sqrt(sum)}};
    whole = {{"shape", {10, 10}}, {"values", "all.npy"}};
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string check(const nlohmann::json &expected) {
    Result<std::string> wrong =
        checkOutput(output.view(), expected, {1e-3, 1e-4}, folder);
    return wrong ? *wrong : wrong.status().toString();
  }

  std::filesystem::path folder;
  Tensor output = std::move(*Tensor::create(DType::F32, {10, 10}));
  nlohmann::json sample, whole;
};

} // namespace

TEST_F(Expectation, HoldsWholeOutputs) {
  EXPECT_EQ(check(whole), "");
  output.as<float>()[99] = 2;
  EXPECT_NE(check(whole).find("1 of 100"), std::string::npos);
  whole["shape"] = {100};
  EXPECT_NE(check(whole).find("has the shape [10, 10]"), std::string::npos);
}

TEST_F(Expectation, HoldsSamples) {
  EXPECT_EQ(check(sample), "");
  output.as<float>()[40] = 0.5F;
  EXPECT_NE(check(sample).find("1 of 3"), std::string::npos);
}

TEST_F(Expectation, HoldsTheNormOfWhatIsNotSampled) {
  output.as<float>()[99] = 2;
  EXPECT_NE(check(sample).find("has the norm"), std::string::npos);
}

TEST_F(Expectation, RefusesSamplesOutsideOfTheOutput) {
  Tensor indices = std::move(*Tensor::create(DType::I64, {3}));
  std::fill_n(indices.as<int64_t>(), 3, 100);
  ASSERT_TRUE(writeNpy(folder / "indices.npy", indices.view()));
  EXPECT_NE(check(sample).find("outside"), std::string::npos);
}
