//===- MmaTest.cpp - contractions on matrix units -----------------*- C++
//-*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/MmaTactic.h"
#include "codegen/families/MmaTile.h"
#include "codegen/families/test/MmaCases.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

class Mma : public testing::TestWithParam<MmaCase> {
  void SetUp() override {
    if (!hasCudaCompiler()) {
      GTEST_SKIP() << "NVRTC is not installed";
    }
  }
};

TEST_P(Mma, MatchesDoublePrecision) {
  const MmaCase &test = GetParam();
  auto region = compileCase(test);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, "contract.mma");
  for (const MmaShape &shape : test.shapes) {
    SCOPED_TRACE(testing::Message()
                 << shape.batch << " x " << shape.m << "x" << shape.n << "x"
                 << shape.k << (shape.misalign ? " misaligned" : ""));
    checkCase(*region, test, shape);
    if (shape.isAligned()) {
      EXPECT_EQ(region->counters.sharedConflicts, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Mma, testing::ValuesIn(allMmaCases()),
                         [](const auto &info) { return info.param.name(); });

} // namespace
