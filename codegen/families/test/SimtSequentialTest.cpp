//===- SimtSequentialTest.cpp - scatters on GPUs --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/ScatterCases.h"
#include "codegen/families/test/SimtRegion.h"
#include <cstring>

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
