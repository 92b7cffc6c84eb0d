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
