//===- SeededWeightsTest.cpp - modules with other weights -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/SeededWeights.h"

#include "runtime/ModuleWriter.h"
#include "tilewright/Context.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::gpucheck;

namespace {

constexpr size_t count = 40000;

/// A module without kernels that gives its constant of f32, with 25 in half of
/// its elements and 27 in the others; a small one stays out of it.
std::vector<std::byte> makeModule() {
  auto plan = std::make_unique<format::PlanT>();
  plan->expressions.emplace_back(count, 0, 0, 0, format::ExprOp_Const);
  plan->expressions.emplace_back(4 * count, 0, 0, 0, format::ExprOp_Const);
  plan->expressions.emplace_back(2, 0, 0, 0, format::ExprOp_Const);
  auto value = [&](format::Storage storage, uint32_t index, uint32_t dim) {
    auto made = std::make_unique<format::ValueT>();
    made->dtype = format::DType_F32;
    made->dims = {dim};
    made->storage = storage;
    made->index = index;
    plan->values.push_back(std::move(made));
  };
  value(format::Storage_Constant, 0, 0);
  value(format::Storage_Constant, 1, 2);
  value(format::Storage_Owned, 0, 0);
  auto main = std::make_unique<format::FunctionT>();
  format::CopyT copy;
  copy.from = 0;
  copy.to = 2;
  auto command = std::make_unique<format::CommandT>();
  command->body.Set(std::move(copy));
  main->commands.push_back(std::move(command));
  main->results = {2};
  plan->functions.push_back(std::move(main));

  format::ModuleT module;
  module.model = "weights";
  auto output = std::make_unique<format::ParameterT>();
  output->name = "y";
  output->dims = {std::to_string(count)};
  module.outputs.push_back(std::move(output));
  auto variant = std::make_unique<format::VariantT>();
  variant->target = "cpu";
  variant->level = "x86-64-v2";
  variant->plan = std::move(plan);
  module.variants.push_back(std::move(variant));
  std::vector<float> large(count), small(2, 5);
  for (size_t i = 0; i < count; ++i) {
    large[i] = i % 2 ? 27 : 25;
  }
  auto view = [](const std::vector<float> &floats) {
    return std::string_view(reinterpret_cast<const char *>(floats.data()),
                            floats.size() * sizeof(float));
  };
  for (int i = 0; i < 2; ++i) {
    module.constants.push_back(std::make_unique<format::ConstantT>());
  }
  ModuleContents contents{&module, {view(large), view(small)}, {""}, {}};
  Result<std::vector<std::byte>> bytes = moduleToBytes(contents);
  EXPECT_TRUE(bytes) << bytes.status().toString();
  return bytes ? *bytes : std::vector<std::byte>();
}

std::vector<float> run(const std::vector<std::byte> &bytes) {
  auto module = Module::fromBytes(bytes);
  EXPECT_TRUE(module) << module.status().toString();
  auto context = module ? Context::create(*module) : module.status();
  auto outputs =
      context ? (*context)->run(std::vector<TensorView>()) : context.status();
  EXPECT_TRUE(outputs) << outputs.status().toString();
  const float *data = outputs ? outputs->front().as<float>() : nullptr;
  return data ? std::vector<float>(data, data + count) : std::vector<float>();
}

} // namespace

TEST(SeededWeights, KeepMeanAndDeviation) {
  std::vector<std::byte> bytes = makeModule();
  Result<ModuleFile> file =
      ModuleFile::fromBytes(bytes.data(), bytes.size(), 1);
  ASSERT_TRUE(file) << file.status().toString();
  nlohmann::json weights = describeWeights(*file);
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_EQ(weights[0]["constant"], 0);
  EXPECT_DOUBLE_EQ(weights[0]["mean"].get<double>(), 26);
  EXPECT_DOUBLE_EQ(weights[0]["deviation"].get<double>(), 1);

  auto hollow = replaceWeights(*file, weights, Weights::Zero);
  ASSERT_TRUE(hollow);
  EXPECT_EQ(run(*hollow), std::vector<float>(count, 0));
  // A module without weights is brought to the one that had them seeded.
  Result<ModuleFile> empty =
      ModuleFile::fromBytes(hollow->data(), hollow->size(), 1);
  ASSERT_TRUE(empty);
  auto filled = replaceWeights(*empty, weights, Weights::Seeded);
  auto seeded = replaceWeights(*file, weights, Weights::Seeded);
  ASSERT_TRUE(filled && seeded);
  EXPECT_EQ(*filled, *seeded);
  std::vector<float> values = run(*seeded);
  double sum = 0, squares = 0;
  for (float value : values) {
    sum += value;
    squares += (value - 26) * (value - 26);
  }
  EXPECT_NEAR(sum / count, 26, 0.05);
  EXPECT_NEAR(std::sqrt(squares / count), 1, 0.05);

  weights[0]["constant"] = 2;
  EXPECT_EQ(replaceWeights(*file, weights, Weights::Zero).status().code(),
            ErrorCode::InputUnreadable);
}
