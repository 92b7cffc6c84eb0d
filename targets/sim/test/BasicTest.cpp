//===- BasicTest.cpp - kernels from end to end --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Harness.h"

using namespace tilewright;
using namespace tilewright::sim;
using namespace tilewright::sim::test;

TEST(Basic, AddsVectors) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
})",
               "80");
  std::vector<float> a(1000), b(1000);
  for (int i = 0; i < 1000; ++i) {
    a[i] = float(i) * 0.5f;
    b[i] = float(1000 - i);
  }
  uint64_t pa = device.put(a), pb = device.put(b), pc = device.make(4000);
  Status status = device.run("add", 8, 128, {pa, pb, pc, 1000});
  ASSERT_EQ(text(status), "ok");
  std::vector<float> c = device.get<float>(pc, 1000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(c[i], a[i] + b[i]) << i;
  }
  EXPECT_EQ(device.counters.blocks, 8u);
  EXPECT_EQ(device.counters.globalLoads.bytes, 8000u);
  EXPECT_EQ(device.counters.globalStores.bytes, 4000u);
}
