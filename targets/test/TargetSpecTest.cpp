//===- TargetSpecTest.cpp - the target descriptions -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/TargetSpec.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(TargetSpec, HasTheLevelsFromLowToHigh) {
  std::vector<std::string_view> names;
  for (const TargetSpec &target : allTargets()) {
    names.push_back(target.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"x86-64-v2", "avx2", "avx512"}));
}

TEST(TargetSpec, ReadsEveryFieldFromItsFile) {
  const TargetSpec *target = findTarget("avx2");
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->llvmCpu, "x86-64-v3");
  EXPECT_EQ(target->vectorBytes, 32u);
  EXPECT_EQ(target->vectorRegisters, 16u);
  EXPECT_TRUE(target->hasFma);
  EXPECT_TRUE(target->hasF16C);
  EXPECT_FALSE(target->hasAvx512Bf16);
  EXPECT_FALSE(target->hasMaskedOps);
  EXPECT_EQ(target->l1Bytes, 32768);
  EXPECT_EQ(target->lanes(4), 8u);
}

TEST(TargetSpec, UnknownNamesAreNotFound) {
  EXPECT_EQ(findTarget("avx"), nullptr);
}

TEST(TargetSpec, TheHostRunsEverythingUpToItsLevel) {
  const TargetSpec *host = hostTarget();
  ASSERT_NE(host, nullptr);
  for (const TargetSpec &target : allTargets()) {
    EXPECT_EQ(runsOnHost(target), target.order <= host->order) << target.name;
  }
}

TEST(GpuSpec, HasTheArchitecturesFromOldToNew) {
  std::vector<std::string_view> names;
  for (const TargetSpec &target : gpuTargets()) {
    names.push_back(target.name);
    EXPECT_TRUE(target.isGpu());
    EXPECT_FALSE(runsOnHost(target));
  }
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"sm_80", "sm_86", "sm_89", "sm_90a",
                                           "sm_100a", "sm_120a"}));
}

TEST(GpuSpec, ReadsEveryFieldFromItsFile) {
  const TargetSpec *target = findTarget("sm_80");
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(fullName(*target), "cuda:sm_80");
  const GpuSpec &gpu = *target->gpu;
  EXPECT_EQ(gpu.computeCapability, 80);
  EXPECT_EQ(gpu.multiprocessors, 108);
  EXPECT_EQ(gpu.sharedBytesPerBlock, 163 * 1024);
  EXPECT_FALSE(gpu.isSpecific());
  EXPECT_TRUE(findTarget("sm_90a")->gpu->isSpecific());
}

/// Peaks as the makers state them, in Tflop/s: a slip in a figure shows.
TEST(GpuSpec, RatesGiveThePublishedPeaks) {
  auto peak = [](const char *name, int GpuSpec::*rate) {
    const GpuSpec &gpu = *findTarget(name)->gpu;
    return 2e-6 * gpu.multiprocessors * gpu.clockMHz * (gpu.*rate);
  };
  EXPECT_NEAR(peak("sm_80", &GpuSpec::floatOps), 19.5, 0.1);
  EXPECT_NEAR(peak("sm_80", &GpuSpec::mmaF16), 312, 1);
  EXPECT_NEAR(peak("sm_86", &GpuSpec::mmaF16), 125, 1);
  EXPECT_NEAR(peak("sm_89", &GpuSpec::mmaF8), 242, 1);
  EXPECT_NEAR(peak("sm_90a", &GpuSpec::mmaF16), 989, 1);
  EXPECT_NEAR(peak("sm_100a", &GpuSpec::mmaF16), 2250, 20);
  EXPECT_NEAR(peak("sm_120a", &GpuSpec::floatOps), 104.8, 0.3);
}
