//===- SimtProductTest.cpp - contractions in plain arithmetic ---*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/MmaCases.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

MmaCase plain(bool transposeA, bool transposeB, Epilogue epilogue) {
  MmaCase test{"f32", "f32", transposeA, transposeB, epilogue};
  test.isPlain = true;
  return test;
}

/// All orders of memory and epilogues, in sizes that only the launch knows; and
/// each tile, in a size that it does not divide and in one that it does.
std::vector<MmaCase> allCases() {
  std::vector<MmaCase> cases;
  for (int order = 0; order < 4; ++order) {
    for (Epilogue epilogue : {Epilogue::None, Epilogue::BiasRelu}) {
      cases.push_back(plain(order & 1, order & 2, epilogue));
      cases.back().shapes = {{1, 64, 64, 128}, {2, 33, 40, 96},  {1, 1, 7, 5},
                             {1, 17, 65, 31},  {2, 48, 24, 200}, {1, 5, 16, 0}};
    }
  }
  for (const families::ContractTile &tile : families::contractTiles()) {
    bool isOne = tile.step == 16 ? tile.stages == 3 : tile.stages == 2;
    if (!isOne) {
      continue;
    }
    cases.push_back(
        plain(false, tile.rows % 128 == 0, Epilogue::ResidualSigmoid));
    cases.back().isStatic = true;
    cases.back().plainTile = tile;
    cases.back().shapes = {tile.step == 16 ? MmaShape{1, 128, 128, 64}
                                           : MmaShape{1, 36, 52, 44}};
  }
  return cases;
}

class SimtProduct : public testing::TestWithParam<MmaCase> {
  void SetUp() override {
    if (!hasCudaCompiler()) {
      GTEST_SKIP() << "NVRTC is not installed";
    }
  }
};

TEST_P(SimtProduct, MatchesDoublePrecision) {
  const MmaCase &test = GetParam();
  auto region = compileCase(test);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, "contract.simt");
  EXPECT_EQ(region->kernel.binary.spillBytes, 0);
  for (const MmaShape &shape : test.shapes) {
    SCOPED_TRACE(testing::Message() << shape.batch << " x " << shape.m << "x"
                                    << shape.n << "x" << shape.k);
    checkCase(*region, test, shape);
    if (shape.isAligned()) {
      EXPECT_EQ(region->counters.sharedConflicts, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, SimtProduct, testing::ValuesIn(allCases()),
                         [](const auto &info) { return info.param.name(); });

/// Each element of the large factor is read once, 16 bytes at a time, however
/// it lies; the factors may be of 16 bits where a single row is for no matrix
/// unit.
TEST(SimtFewRows, ReadTheLargeFactorOnce) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  for (const char *type : {"f32", "f16"}) {
    for (int64_t rows : {1, 3, 7}) {
      bool isWide = type[1] == '3';
      if (!isWide && rows > 1) {
        continue;
      }
      for (bool transposeB : {false, true}) {
        for (MmaShape shape :
             {MmaShape{1, rows, 512, 256}, MmaShape{2, rows, 104, 72}}) {
          MmaCase test{type, type, false, transposeB, Epilogue::BiasRelu};
          test.isPlain = test.isStatic = true;
          test.shapes = {shape};
          SCOPED_TRACE(test.name());
          auto region = compileCase(test);
          ASSERT_TRUE(region);
          EXPECT_EQ(region->tactic, "contract.few");
          checkCase(*region, test, shape);
          int64_t bytes = shape.batch * shape.n * shape.k * (isWide ? 4 : 2);
          constexpr int64_t sectorBytes = 32;
          auto sectors = int64_t(region->counters.globalLoads.sectors);
          // The rows come from the first cache.
          EXPECT_GE(sectors * sectorBytes, bytes);
          EXPECT_LE(sectors * sectorBytes, bytes * (rows + 2));
          EXPECT_EQ(region->counters.sharedConflicts, 0u);
        }
      }
    }
  }
}

/// Few columns are few rows, seen from the other side.
TEST(SimtFewRows, MayBeColumns) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  MmaCase test{"f32", "f32", false, true};
  test.isPlain = test.isStatic = true;
  test.shapes = {{1, 96, 2, 128}};
  auto region = compileCase(test);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, "contract.few");
  checkCase(*region, test, test.shapes.front());
}

/// A factor that has to be widened is computed, the other one copied.
TEST(SimtProductTypes, Differ) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  for (auto [a, b] : {std::pair("f16", "f32"), std::pair("f32", "f16")}) {
    MmaCase test{a, b, false, true};
    test.isPlain = true;
    test.shapes = {{1, 64, 64, 128}, {2, 33, 40, 96}};
    auto region = compileCase(test);
    ASSERT_TRUE(region);
    EXPECT_EQ(region->tactic, "contract.simt");
    for (const MmaShape &shape : test.shapes) {
      checkCase(*region, test, shape);
    }
  }
}

/// Every block reads its rows and columns once, in whole sectors.
TEST(SimtProductTraffic, IsWhatTheTileNeeds) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  for (bool transposeB : {false, true}) {
    MmaCase test = plain(false, transposeB, Epilogue::None);
    test.isStatic = true;
    MmaShape shape{1, 256, 128, 64};
    test.shapes = {shape};
    auto region = compileCase(test);
    ASSERT_TRUE(region);
    checkCase(*region, test, shape);
    auto tile = families::ContractTile::fromAttribute(region->parameters);
    double blocks =
        double(shape.m / tile.rows) * double(shape.n / tile.columns);
    constexpr uint64_t sectorBytes = 32, accessBytes = 16 * 32;
    auto loads = uint64_t(blocks * double(tile.rows + tile.columns) *
                          double(shape.k * 4));
    EXPECT_EQ(region->counters.globalLoads.sectors * sectorBytes, loads);
    EXPECT_EQ(region->counters.globalLoads.requests * accessBytes, loads);
    EXPECT_EQ(region->counters.globalStores.sectors * sectorBytes,
              uint64_t(shape.m * shape.n * 4));
  }
}

} // namespace
