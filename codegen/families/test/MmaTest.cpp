//===- MmaTest.cpp - contractions on matrix units -----------------*- C++
//-*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/MmaTactic.h"
#include "codegen/families/contract/MmaTile.h"
#include "codegen/families/test/MmaCases.h"
#include <iostream>

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
    SCOPED_TRACE(testing::Message() << shape.batch << " x " << shape.m << "x"
                                    << shape.n << "x" << shape.k);
    checkCase(*region, test, shape);
    if (shape.isAligned()) {
      EXPECT_EQ(region->counters.sharedConflicts, 0u);
    }
  }
}

/// A convolution with padding, of tensors whose channels are last (the layout
/// that has them side by side) or second.
void checkConvolution(int64_t channels, int64_t outputs, int64_t size,
                      int64_t kernel, int64_t stride, bool channelsLast) {
  int64_t pad = kernel / 2, out = (size + 2 * pad - kernel) / stride + 1;
  auto tensor = [](std::initializer_list<int64_t> dims, const char *element) {
    std::string text = "tensor<";
    for (int64_t dim : dims) {
      text += std::to_string(dim) + "x";
    }
    return text + element + ">";
  };
  std::string x = channelsLast ? tensor({2, size, size, channels}, "f16")
                               : tensor({2, channels, size, size}, "f16");
  std::string w = tensor({outputs, kernel, kernel, channels}, "f16");
  std::string s = channelsLast ? tensor({2, out, out, outputs}, "f32")
                               : tensor({2, outputs, out, out}, "f32");
  std::string k = std::to_string(kernel), z = std::to_string(size);
  std::string text = "func.func @f(%x: " + x + ", %w: " + w +
                     ") {\n%r = tw.fused @conv(%a = " + "%x : " + x +
                     ", %b = %w : " + w + ") {\n%s = tw.reduce add (" +
                     (channelsLast ? "%n, %i, %j, %m" : "%n, %m, %i, %j") +
                     ") over (%c, %h, " + "%v) in <[" +
                     std::to_string(channels) + ", " + k + ", " + k + "]> " +
                     "attributes {root = \"conv\"} {\n%st = arith.constant " +
                     std::to_string(stride) + " : index\n%p = arith.constant " +
                     std::to_string(pad) + " : index\n%size = arith.constant " +
                     z + " : index\n%nil = arith.constant 0 : index\n" +
                     "%none = arith.constant 0.0 : f16\n";
  for (auto [base, offset, row, inside] :
       {std::array{"%i", "%h", "%y", "%in0"}, {"%j", "%v", "%u", "%in1"}}) {
    std::string r = row, t = inside;
    text += r + "0 = arith.muli " + base + ", %st : index\n" + r +
            "1 = arith.addi " + r + "0, " + offset + " : index\n" + r +
            " = arith.subi " + r + "1, %p : index\n" + t +
            "0 = arith.cmpi sge, " + r + ", %nil : index\n" + t +
            "1 = arith.cmpi slt, " + r + ", %size : index\n" + t +
            " = arith.andi " + t + "0, " + t + "1 : i1\n";
  }
  text += "%in = arith.andi %in0, %in1 : i1\n%q = tw.load %a[%n, " +
          std::string(channelsLast ? "%y, %u, %c" : "%c, %y, %u") +
          "] guard %in else %none : f16 : " + x +
          " -> f16\n%g = tw.load %b[%m, %h, %v, %c] : " + w +
          " -> f16\n%qw = arith.extf %q : f16 to f32\n" +
          "%gw = arith.extf %g : f16 to f32\n%t = arith.mulf %qw, %gw : f32\n" +
          "tw.yield %t : f32\n} : " + s + "\ntw.yield %s : " + s +
          "\n} : " + s + "\nreturn\n}";
  auto region = SimtRegion::compile(text, *findTarget("sm_80"));
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, "contract.mma");
  std::vector<std::vector<uint8_t>> buffers = {
      randomNumbers("f16", 2 * size * size * channels, 1),
      randomNumbers("f16", outputs * kernel * kernel * channels, 2),
      std::vector<uint8_t>(4 * 2 * out * out * outputs)};
  EXPECT_EQ(region->run(buffers, 1), 0);
  auto at = [&](int64_t n, int64_t y, int64_t u, int64_t c) {
    bool isInside = y >= 0 && y < size && u >= 0 && u < size;
    int64_t index = channelsLast ? ((n * size + y) * size + u) * channels + c
                                 : ((n * channels + c) * size + y) * size + u;
    return isInside ? numberAt("f16", buffers[0], index) : 0.0;
  };
  int shown = 0;
  for (int64_t index = 0; index < 2 * out * out * outputs; ++index) {
    int64_t rest = index, m, j, i;
    if (channelsLast) {
      m = rest % outputs, rest /= outputs;
    }
    j = rest % out, rest /= out, i = rest % out, rest /= out;
    if (!channelsLast) {
      m = rest % outputs, rest /= outputs;
    }
    double sum = 0, total = 0;
    for (int64_t h = 0; h < kernel; ++h) {
      for (int64_t v = 0; v < kernel; ++v) {
        for (int64_t c = 0; c < channels; ++c) {
          double product =
              at(rest, i * stride + h - pad, j * stride + v - pad, c) *
              numberAt("f16", buffers[1],
                       ((m * kernel + h) * kernel + v) * channels + c);
          sum += product;
          total += std::abs(product);
        }
      }
    }
    double actual = numberAt("f32", buffers[2], index);
    if (!(std::abs(actual - sum) <= 1e-5 * total) && shown++ < 4) {
      ADD_FAILURE() << "element " << index << ": " << actual << ", expected "
                    << sum;
    }
  }
}

TEST(MmaConvolution, ChannelsLast) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  checkConvolution(16, 24, 9, 3, 1, true);
  checkConvolution(8, 40, 11, 3, 2, true);
  checkConvolution(32, 16, 5, 1, 1, true);
  checkConvolution(3, 20, 10, 5, 2, true);
}

TEST(MmaConvolution, ChannelsSecond) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  checkConvolution(6, 17, 9, 3, 1, false);
  checkConvolution(16, 32, 8, 3, 2, false);
}

TEST(MmaTraffic, IsWhatTheTileNeeds) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  for (const char *type : {"f16", "i8"}) {
    MmaCase test{type, type, false, true};
    test.isStatic = true;
    MmaShape shape{1, 256, 128, 256};
    test.shapes = {shape};
    auto region = compileCase(test);
    ASSERT_TRUE(region);
    checkCase(*region, test, shape);
    auto tile = families::MmaTile::fromAttribute(region->parameters);
    int64_t bytes = type[0] == 'f' ? 2 : 1,
            resultBytes = type[0] == 'f' ? 2 : 4;
    double blocks =
        double(shape.m / tile.rows) * double(shape.n / tile.columns);
    double loads =
        blocks * double(tile.rows + tile.columns) * double(shape.k * bytes);
    double stores = double(shape.m * shape.n * resultBytes);
    constexpr double sectorBytes = 32;
    EXPECT_NEAR(region->counters.globalLoads.sectors * sectorBytes / loads, 1,
                0.05);
    EXPECT_NEAR(region->counters.globalStores.sectors * sectorBytes / stores, 1,
                0.05);
    EXPECT_EQ(region->counters.sharedConflicts, 0u);
  }
}

/// A product that is large enough for large tiles.
MmaCase largeCase(const char *type) {
  MmaCase test{type, type};
  test.isStatic = true;
  test.epilogue = Epilogue::BiasRelu;
  test.shapes = {{1, 4096, 4096, 1024}};
  return test;
}

/// \returns whether the kernel keeps its sums in registers.
bool fitsRegisters(const MmaCase &test, const TargetSpec &target) {
  auto region = compileCase(test, &target);
  if (!region) {
    return false;
  }
  const CudaBinary &binary = region->kernel.binary;
  if (getenv("TILEWRIGHT_SHOW_TILES")) {
    std::cout
        << target.name << " " << test.name() << ": " << region->kernel.name
        << ", " << binary.registers << " registers (expected "
        << families::MmaTile::fromAttribute(region->parameters).registers()
        << "), " << binary.spillBytes << " bytes spilled, "
        << region->kernel.milliseconds << " ms\n";
  }
  return binary.spillBytes == 0;
}

TEST(MmaCompile, LargeTilesOfEveryGpuDoNotSpill) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  for (const TargetSpec &target : gpuTargets()) {
    SCOPED_TRACE(std::string(target.name));
    EXPECT_TRUE(fitsRegisters(largeCase("f16"), target));
  }
}

/// A compile drops the few that spill.
TEST(MmaCompile, NearlyEveryTileOfEveryGpuFits) {
  if (!getenv("TILEWRIGHT_EVERY_TILE")) {
    GTEST_SKIP() << "takes minutes; scripts/mma_tiles.sh runs it";
  }
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  unsigned spilling = 0, tiles = 0;
  for (const TargetSpec &target : gpuTargets()) {
    for (const char *type : {"f16", "bf16", "f32", "i8", "f8E4M3FN"}) {
      if (target.gpu->mmaF8 == 0 && std::string(type) == "f8E4M3FN") {
        continue;
      }
      MmaCase test = largeCase(type);
      int64_t bytes = type[1] == '8' ? 1 : type[1] == '3' ? 4 : 2;
      for (const families::MmaTile &tile : families::mmaTiles(bytes)) {
        if (tile.sharedBytes(bytes) <= target.gpu->sharedBytesPerBlock) {
          test.tile = tile;
          SCOPED_TRACE(std::string(target.name) + " " + test.name());
          ++tiles;
          spilling += !fitsRegisters(test, target);
        }
      }
    }
  }
  EXPECT_LT(spilling, tiles / 20);
}

INSTANTIATE_TEST_SUITE_P(Families, Mma, testing::ValuesIn(allMmaCases()),
                         [](const auto &info) { return info.param.name(); });

} // namespace
