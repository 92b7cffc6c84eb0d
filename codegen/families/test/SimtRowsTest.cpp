//===- SimtRowsTest.cpp - rows on GPUs --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/SimtRegion.h"
#include <cmath>
#include <cstring>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Bytes = std::vector<uint8_t>;

/// Softmax of rows, which also gives the sums. `n` elements; 0: any number.
std::string softmax(int64_t n) {
  std::string extent = n ? std::to_string(n) : "N";
  auto tensor = [&](bool isRow) {
    std::string dims = isRow ? "M" : "M, " + extent;
    return "tensor<?" +
           std::string(isRow ? "x"
                       : n   ? "x" + extent + "x"
                             : "x?x") +
           "f32, #tw.dims<[" + dims + "]>>";
  };
  std::string x = tensor(false), m = tensor(true);
  return "func.func @f(%x: " + x +
         ") {\n%r:2 = tw.fused @softmax(%a = %x : " + x +
         ") attributes {rows = 1 : i64} {\n" +
         "%m = tw.reduce max (%i) over (%k) in <[" + extent +
         "]> {\n%v = tw.load %a[%i, %k] : " + x +
         " -> f32\ntw.yield %v : f32\n} : " + m +
         "\n%e = tw.map(%i, %k) {\n%v = tw.load %a[%i, %k] : " + x +
         " -> f32\n%w = tw.load %m[%i] : " + m +
         " -> f32\n%d = arith.subf %v, %w : f32\n%q = math.exp %d : f32\n"
         "tw.yield %q : f32\n} : " +
         x + "\n%s = tw.reduce add (%i) over (%k) in <[" + extent +
         "]> {\n%v = tw.load %e[%i, %k] : " + x +
         " -> f32\ntw.yield %v : f32\n} : " + m +
         "\n%h = tw.map(%i) {\n%v = tw.load %s[%i] : " + m +
         " -> f32\n%one = arith.constant 1.0 : f32\n"
         "%t = arith.divf %one, %v : f32\ntw.yield %t : f32\n} : " +
         m + "\n%y = tw.map(%i, %k) {\n%v = tw.load %e[%i, %k] : " + x +
         " -> f32\n%w = tw.load %h[%i] : " + m +
         " -> f32\n%d = arith.mulf %v, %w : f32\ntw.yield %d : f32\n} : " + x +
         "\ntw.yield %y, %s : " + x + ", " + m + "\n} : " + x + ", " + m +
         "\nreturn\n}";
}

/// \param readings how often an element of the row comes from memory.
void check(int64_t fixed, int64_t n, const char *tactic, uint64_t readings) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  SCOPED_TRACE(testing::Message() << fixed << ", " << n);
  auto region = SimtRegion::compile(softmax(fixed), *findTarget("sm_80"));
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, tactic);
  constexpr int64_t m = 3;
  std::vector<Bytes> buffers = {Bytes(m * n * 4), Bytes(m * n * 4),
                                Bytes(m * 4)};
  auto *x = reinterpret_cast<float *>(buffers[0].data());
  for (int64_t i = 0; i < m * n; ++i) {
    x[i] = float(int(i * 7919 % 1013) - 500) / 100;
  }
  EXPECT_EQ(region->run(buffers, 2, {{"M", m}, {"N", n}}), 0);
  const auto *y = reinterpret_cast<float *>(buffers[1].data());
  const auto *sums = reinterpret_cast<float *>(buffers[2].data());
  for (int64_t i = 0; i < m; ++i) {
    double most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      most = std::max<double>(most, x[i * n + k]);
    }
    for (int64_t k = 0; k < n; ++k) {
      sum += std::exp(x[i * n + k] - most);
    }
    EXPECT_NEAR(sums[i], sum, sum * 1e-5);
    int wrong = 0;
    for (int64_t k = 0; k < n; ++k) {
      double expected = std::exp(x[i * n + k] - most) / sum;
      wrong += std::abs(y[i * n + k] - expected) > expected * 2e-5;
    }
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(region->counters.sharedConflicts, 0u);
  EXPECT_EQ(region->counters.globalLoads.bytes, readings * m * n * 4);
  EXPECT_EQ(region->counters.globalStores.bytes, uint64_t(m * n * 4 + m * 4));
  if (n % 4 == 0 && fixed) {
    EXPECT_EQ(region->counters.globalLoads.sectors * 32, readings * m * n * 4);
  }
}

} // namespace

TEST(SimtRows, StayInRegisters) {
  check(1024, 1024, "rows.registers", 1);
  check(768, 768, "rows.registers", 1);
  check(4096, 4096, "rows.registers", 1);
}

TEST(SimtRows, StayInSharedMemory) {
  check(20000, 20000, "rows.passes", 1);
  check(17001, 17001, "rows.passes", 1);
}

TEST(SimtRows, AreReadForEachReductionAndForTheResults) {
  check(65536, 65536, "rows.passes", 3);
  for (int64_t n : {1, 31, 500, 5000}) {
    check(0, n, "rows.passes", 3);
  }
}
