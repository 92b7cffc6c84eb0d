//===- LongReductionsTest.cpp - few results of many elements --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// On a GPU a long reduction with few results is computed in parts, by blocks of
// their own. Modules for the simulator stand beside those for the processor.
//
//===----------------------------------------------------------------------===//

#include "test/e2e/Models.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// \param launches of the module for a GPU.
void check(const std::string &graph, std::vector<int64_t> shape,
           uint64_t launches) {
  auto path = writeModel(R"(<ir_version: 8, opset_import: ["": 17]> )" + graph);
  CompileOptions options;
  options.target = findTarget("sm_80");
  options.simulated = true;
  auto compiled = compileModel(path.string(), options);
  auto expected = compile(path);
  std::filesystem::remove(path);
  if (compiled.status().code() == ErrorCode::CudaCompilerMissing) {
    GTEST_SKIP() << compiled.status().message();
  }
  ASSERT_TRUE(compiled && expected) << compiled.status().toString();
  OpenOptions open;
  open.device = DeviceKind::Simulator;
  open.architecture = "sm_80";
  auto module = Module::fromBytes(compiled->module, open);
  ASSERT_TRUE(module) << module.status().toString();
  auto onGpu = Context::create(*module), onCpu = Context::create(expected);
  ASSERT_TRUE(onGpu && onCpu);
  Tensors in;
  in.push_back(randomTensor(std::move(shape), 1));
  Tensors actual = run(**onGpu, in), wanted = run(**onCpu, in);
  ASSERT_EQ(actual.size(), 1U);
  EXPECT_LE(largestDifference(actual[0], wanted[0]), 1e-6);
  EXPECT_EQ((*onGpu)->statistics().launches, launches);
}

TEST(LongReductions, MeansOfRows) {
  check(R"(mean (float[2,131072] x) => (float[2] y)
           { y = ReduceMean <axes = [1], keepdims = 0> (x) })",
        {2, 131072}, 2);
}

TEST(LongReductions, GreatestOfAll) {
  check(R"(greatest (float[64,32,64] x) => (float y)
           { y = ReduceMax <keepdims = 0> (x) })",
        {64, 32, 64}, 2);
}

TEST(LongReductions, SoftmaxOfOneRow) {
  // The maximum and the sum in parts, and maps before and after.
  check(R"(softmax (float[1,131072] x) => (float[1,131072] y)
           { y = Softmax (x) })",
        {1, 131072}, 6);
}

TEST(LongReductions, ShortOnesInOneLaunch) {
  check(R"(mean (float[2,1024] x) => (float[2] y)
           { y = ReduceMean <axes = [1], keepdims = 0> (x) })",
        {2, 1024}, 1);
}

} // namespace
