//===- SimtRowsTest.cpp - rows on GPUs --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/SimtRegion.h"
#include <algorithm>
#include <cmath>
#include <limits>

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

TEST(SimtRows, AreReadForFoldsAndForResults) {
  check(65536, 65536, "rows.passes", 2);
  for (int64_t n : {0, 1, 31, 500, 5000}) {
    check(0, n, "rows.passes", 2);
  }
}

TEST(SimtRows, HaveOddNumbersInOnePass) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  auto region = SimtRegion::compile(softmax(0), *findTarget("sm_80"));
  ASSERT_TRUE(region);
  // Masked but for the last element, masked, with NaN, with infinity, far from
  // zero, and with the extremes of the type.
  constexpr int64_t m = 6, n = 1500;
  constexpr float most = std::numeric_limits<float>::max();
  std::vector<Bytes> buffers = {Bytes(m * n * 4), Bytes(m * n * 4),
                                Bytes(m * 4)};
  auto *x = reinterpret_cast<float *>(buffers[0].data());
  std::fill(x, x + 2 * n, -INFINITY);
  std::fill(x + 2 * n, x + 4 * n, 1.f);
  std::fill(x + 4 * n, x + 5 * n, -1e30f);
  std::fill(x + 5 * n, x + 6 * n, -most);
  x[n - 1] = 3;
  x[2 * n + 700] = NAN;
  x[3 * n + 700] = INFINITY;
  x[5 * n + 700] = most;
  EXPECT_EQ(region->run(buffers, 2, {{"M", m}, {"N", n}}), 0);
  const auto *y = reinterpret_cast<float *>(buffers[1].data());
  const auto *sums = reinterpret_cast<float *>(buffers[2].data());
  EXPECT_EQ(sums[0], 1.f);
  EXPECT_EQ(y[n - 1], 1.f);
  EXPECT_EQ(std::count(y, y + n, 0.f), n - 1);
  for (int64_t row : {1, 2, 3}) {
    EXPECT_TRUE(std::isnan(sums[row])) << row;
    EXPECT_EQ(std::count_if(y + row * n, y + (row + 1) * n,
                            [](float v) { return std::isnan(v); }),
              n)
        << row;
  }
  EXPECT_EQ(sums[4], float(n));
  EXPECT_EQ(sums[5], 1.f);
  EXPECT_EQ(y[5 * n + 700], 1.f);
}

namespace {

/// The sums of the squares of rows' distances from their means, and the
/// distances. `extent` is a number, or N.
std::string squares(const std::string &extent) {
  const std::string x = "tensor<?x" + (extent == "N" ? "?" : extent) +
                        "xf32, #tw.dims<[M, " + extent + "]>>",
                    m = "tensor<?xf32, #tw.dims<[M]>>",
                    distance = "%v = tw.load %a[%i, %k] : " + x +
                               " -> f32\n%t = tw.load %m[%i] : " + m +
                               " -> f32\n%n = tw.size <" + extent +
                               ">\n%c = arith.index_cast %n : index to i64\n"
                               "%g = arith.sitofp %c : i64 to f32\n"
                               "%u = arith.divf %t, %g : f32\n"
                               "%d = arith.subf %v, %u : f32\n",
                    fold = "tw.reduce add (%i) over (%k) in <[" + extent +
                           "]> {\n";
  return "func.func @f(%x: " + x + ") {\n%r:2 = tw.fused @norm(%a = %x : " + x +
         ") attributes {rows = 1 : i64} {\n%m = " + fold +
         "%v = tw.load %a[%i, %k] : " + x +
         " -> f32\ntw.yield %v : f32\n} : " + m + "\n%s = " + fold + distance +
         "%q = arith.mulf %d, %d : f32\ntw.yield %q : f32\n} : " + m +
         "\n%y = tw.map(%i, %k) {\n" + distance +
         "tw.yield %d : f32\n} : " + x + "\ntw.yield %y, %s : " + x + ", " + m +
         "\n} : " + x + ", " + m + "\nreturn\n}";
}

} // namespace

TEST(SimtRows, KeepTheDigitsOfVariances) {
  if (!hasCudaCompiler()) {
    GTEST_SKIP() << "NVRTC is not installed";
  }
  for (int64_t n : {0, 1, 200, 10000, 65536}) {
    SCOPED_TRACE(n);
    auto region = SimtRegion::compile(
        squares(n < 65536 ? "N" : std::to_string(n)), *findTarget("sm_80"));
    ASSERT_TRUE(region);
    EXPECT_EQ(region->tactic, "rows.passes");
    constexpr int64_t m = 4;
    std::vector<Bytes> buffers = {Bytes(m * n * 4), Bytes(m * n * 4),
                                  Bytes(m * 4)};
    auto *x = reinterpret_cast<float *>(buffers[0].data());
    for (int64_t i = 0; i < m * n; ++i) {
      // Further from zero from row to row.
      x[i] = float(int(i * 7919 % 1013) - 500) / 512 +
             (i / n == 0 ? 0.f : std::pow(8.f, float(i / n)));
    }
    EXPECT_EQ(region->run(buffers, 2, {{"M", m}, {"N", n}}), 0);
    EXPECT_EQ(region->counters.globalLoads.bytes, uint64_t(2 * m * n * 4));
    const auto *y = reinterpret_cast<float *>(buffers[1].data());
    const auto *sums = reinterpret_cast<float *>(buffers[2].data());
    for (int64_t i = 0; i < m; ++i) {
      double sum = 0, squares = 0;
      for (int64_t k = 0; k < n; ++k) {
        sum += x[i * n + k];
      }
      for (int64_t k = 0; k < n; ++k) {
        squares += std::pow(x[i * n + k] - sum / n, 2);
      }
      EXPECT_NEAR(sums[i], squares, squares * 1e-5) << i;
      if (n > 0) {
        EXPECT_NEAR(y[i * n], x[i * n] - sum / n, 1e-3) << i;
      }
    }
  }
}
