//===- SimtSequentialTest.cpp - scans and scatters on GPUs ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/Floats.h"
#include "codegen/families/test/ScatterCases.h"
#include "codegen/families/test/SimtRegion.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Bytes = std::vector<uint8_t>;

template <typename T> Bytes bytesOf(const std::vector<T> &values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}

class SimtSequential : public testing::Test {
protected:
  void SetUp() override {
    if (!hasCudaCompiler()) {
      GTEST_SKIP() << "NVRTC is not installed";
    }
  }
};

} // namespace

TEST_F(SimtSequential, ScattersInOrder) {
  for (const ScatterCase &one : scatterCases()) {
    SCOPED_TRACE(one.text());
    auto region = SimtRegion::compile(one.text(), *findTarget("sm_80"));
    ASSERT_TRUE(region);
    EXPECT_EQ(region->tactic, "scatter.owners");
    std::vector<float> y(one.a * one.b * one.d);
    std::vector<Bytes> buffers = {bytesOf(one.initial()), bytesOf(one.places()),
                                  bytesOf(one.updates()), bytesOf(y)};
    SimtRegion::Symbols symbols = {{"A", one.a}, {"B", one.b}, {"D", one.d},
                                   {"N", one.n}, {"K", one.k}, {"C", one.c}};
    EXPECT_EQ(region->run(buffers, 1, symbols), 0);
    EXPECT_EQ(buffers.back(), bytesOf(one.expected()));
    EXPECT_EQ(region->kernel.binary.spillBytes, 0u);
    if (one.indices() > 0) { // a bad index is reported
      std::vector<int64_t> at = one.places();
      at.back() = 1000;
      buffers[1] = bytesOf(at);
      EXPECT_EQ(region->run(buffers, 1, symbols), 1);
    }
  }
}

TEST_F(SimtSequential, ManyThreadsOwnWhatIsScattered) {
  // One long axis, and a cache with a place for each batch.
  for (const ScatterCase &one :
       {ScatterCase{"add", 0, false, 100000, 1, 1, 50, 1, 1},
        ScatterCase{"assign", 1, true, 64, 512, 64, 64, 1, 64}}) {
    auto region = SimtRegion::compile(one.text(), *findTarget("sm_80"));
    ASSERT_TRUE(region);
    std::vector<float> y(one.a * one.b * one.d);
    std::vector<Bytes> buffers = {bytesOf(one.initial()), bytesOf(one.places()),
                                  bytesOf(one.updates()), bytesOf(y)};
    EXPECT_EQ(region->run(buffers, 1), 0);
    EXPECT_EQ(buffers.back(), bytesOf(one.expected()));
    // Elements are copied in whole lines, by at least as many threads as keep
    // the GPU busy.
    int64_t threads =
        region->launch.tasks.getConstant().value_or(0) * region->launch.threads;
    EXPECT_GE(threads, 10000);
    EXPECT_LE(region->counters.globalStores.sectors * 32,
              y.size() * 4 * 11 / 10);
  }
}

namespace {

/// A scan of [outer, length, inner] along the length.
struct ScanCase {
  const char *kind;
  const char *attributes;
  const char *element;
  int64_t outer, length, inner;
  bool isOpen;
  const char *tactic;
};

std::string textOf(const ScanCase &one) {
  std::vector<std::string> dims = {std::to_string(one.outer),
                                   std::to_string(one.length),
                                   std::to_string(one.inner)};
  if (one.isOpen) {
    dims = {"A", "N", "C"};
  }
  std::string element = one.element,
              type = one.isOpen
                         ? "tensor<?x?x?x" + element + ", #tw.dims<[A, N, C]>>"
                         : "tensor<" + dims[0] + "x" + dims[1] + "x" + dims[2] +
                               "x" + element + ">";
  return "func.func @f(%x: " + type +
         ") {\n%r = tw.fused @r(%a = %x : " + type + ") {\n%s = tw.scan " +
         one.kind + " (%i, %j, %k) attributes {axis = 1 : i64" +
         one.attributes + "} {\n%v = tw.load %a[%i, %j, %k] : " + type +
         " -> " + element + "\ntw.yield %v : " + element + "\n} : " + type +
         "\ntw.yield %s : " + type + "\n} : " + type + "\nreturn\n}";
}

/// Runs the case on values that `T` adds without rounding.
template <typename T> void checkScan(const ScanCase &one) {
  SCOPED_TRACE(textOf(one));
  auto region = SimtRegion::compile(textOf(one), *findTarget("sm_80"));
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, one.tactic);
  EXPECT_EQ(region->kernel.binary.spillBytes, 0u);
  bool isReverse =
           std::string(one.attributes).find("reverse") != std::string::npos,
       isExclusive =
           std::string(one.attributes).find("exclusive") != std::string::npos,
       isMax = std::string(one.kind) == "max";
  std::mt19937 generator(3);
  std::uniform_int_distribution<int> distribution(-50, 50);
  std::vector<T> x(one.outer * one.length * one.inner), y(x.size());
  for (T &value : x) {
    value = T(distribution(generator));
  }
  std::vector<T> expected(x.size());
  for (int64_t i = 0; i < one.outer; ++i) {
    for (int64_t k = 0; k < one.inner; ++k) {
      T sum = isMax ? std::numeric_limits<T>::lowest() : T(0);
      for (int64_t j = 0; j < one.length; ++j) {
        int64_t place = isReverse ? one.length - 1 - j : j;
        int64_t at = (i * one.length + place) * one.inner + k;
        T next = isMax ? std::max(sum, x[at]) : T(sum + x[at]);
        expected[at] = isExclusive ? sum : next;
        sum = next;
      }
    }
  }
  std::vector<Bytes> buffers = {bytesOf(x), bytesOf(y)};
  EXPECT_EQ(
      region->run(buffers, 1,
                  {{"A", one.outer}, {"N", one.length}, {"C", one.inner}}),
      0);
  EXPECT_EQ(buffers.back(), bytesOf(expected));
  EXPECT_EQ(region->counters.sharedConflicts, 0u);
}

} // namespace

TEST_F(SimtSequential, ScansByTeams) {
  const char *both = ", exclusive, reverse", *team = "scan.team";
  for (const ScanCase &one : {
           ScanCase{"add", "", "f32", 3, 200, 1, false, team},
           ScanCase{"add", both, "f32", 3, 200, 1, false, team},
           ScanCase{"add", "", "f32", 2, 20000, 1, false, team},
           ScanCase{"add", ", reverse", "f32", 2, 20001, 1, false, team},
           ScanCase{"add", ", exclusive", "f32", 2, 9000, 3, false, team},
           ScanCase{"add", both, "f32", 3, 1, 1, true, team},
           ScanCase{"add", both, "f32", 2, 1029, 2, true, team},
       }) {
    checkScan<float>(one);
  }
  checkScan<int64_t>({"add", ", exclusive", "i64", 2, 5000, 1, false, team});
  checkScan<int64_t>({"max", "", "i64", 2, 300, 2, true, team});
  checkScan<int16_t>({"add", ", reverse", "i16", 2, 300, 1, false, team});
}

TEST_F(SimtSequential, ScansShortLinesAndManyByThreads) {
  const char *thread = "reference.simt";
  checkScan<float>({"add", "", "f32", 50, 31, 1, false, thread});
  checkScan<float>({"add", "", "f32", 2, 40, 5000, false, thread});
}

TEST_F(SimtSequential, PrefixesAreRoundedOnce) {
  ScanCase one = {"add", "", "f32", 1, 49152, 1, false, "scan.team"};
  auto region = SimtRegion::compile(textOf(one), *findTarget("sm_80"));
  ASSERT_TRUE(region);
  std::vector<float> x = randomFloats(one.length, 5), y(x.size());
  std::vector<Bytes> buffers = {bytesOf(x), bytesOf(y)};
  EXPECT_EQ(region->run(buffers, 1), 0);
  std::memcpy(y.data(), buffers.back().data(), y.size() * 4);
  double sum = 0;
  int wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    wrong += std::abs(y[i] - sum) > 1e-6 * std::max(1.0, std::abs(sum));
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(region->counters.globalLoads.sectors * 32, x.size() * 4);
  EXPECT_EQ(region->counters.globalStores.sectors * 32, x.size() * 4);
}
