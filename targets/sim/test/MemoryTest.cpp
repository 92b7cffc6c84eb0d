//===- MemoryTest.cpp - loads, stores and atomics -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Harness.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::sim;
using namespace tilewright::sim::test;

TEST(Memory, WidthsSignsAndVectors) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(const signed char *s8, const unsigned char *u8, const short *s16,
                             const float4 *f4, const double2 *d2, const uchar4 *c4,
                             long long *out, float4 *of, double2 *od, uchar4 *oc, signed char *o8) {
  int i = threadIdx.x;
  out[i] = s8[i] * 1000000LL + u8[i] * 1000LL + s16[i];
  float4 v = f4[i]; of[i] = make_float4(v.w, v.z, v.y, v.x);
  double2 d = d2[i]; od[i] = make_double2(d.y, d.x);
  uchar4 c = c4[i]; oc[i] = make_uchar4(c.w, c.x, c.y, c.z);
  o8[i] = s8[63 - i] - u8[i];
})",
               "80");
  std::vector<int8_t> s8(64);
  std::vector<uint8_t> u8(64), c4(256);
  std::vector<int16_t> s16(64);
  std::vector<float> f4(256);
  std::vector<double> d2(128);
  for (int i = 0; i < 256; ++i) {
    f4[i] = float(i) * 1.5f;
    c4[i] = uint8_t(i * 37);
    if (i < 128) {
      d2[i] = i * 0.1;
    }
    if (i < 64) {
      s8[i] = int8_t(i * 7 - 100);
      u8[i] = uint8_t(i * 5 + 100);
      s16[i] = int16_t(i * 1111 - 30000);
    }
  }
  uint64_t out = device.make(512), of = device.make(1024),
           od = device.make(1024), oc = device.make(256), o8 = device.make(64);
  ASSERT_EQ(text(device.run("k", 1, 64,
                            {device.put(s8), device.put(u8), device.put(s16),
                             device.put(f4), device.put(d2), device.put(c4),
                             out, of, od, oc, o8})),
            "ok");
  auto r = device.get<int64_t>(out, 64);
  auto rf = device.get<float>(of, 256);
  auto rd = device.get<double>(od, 128);
  auto rc = device.get<uint8_t>(oc, 256);
  auto r8 = device.get<int8_t>(o8, 64);
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(r[i], s8[i] * 1000000LL + u8[i] * 1000LL + s16[i]);
    ASSERT_EQ(r8[i], int8_t(s8[63 - i] - u8[i]));
    for (int k = 0; k < 4; ++k) {
      ASSERT_EQ(rf[4 * i + k], f4[4 * i + 3 - k]);
      ASSERT_EQ(rc[4 * i + k], c4[4 * i + (k + 3) % 4]);
    }
    ASSERT_EQ(rd[2 * i], d2[2 * i + 1]);
  }
}

TEST(Memory, VariablesOfTheModule) {
  Device device;
  TW_LOAD_CUDA(device, R"(
__device__ int counter; __device__ float table[3] = {1, 2, 3};
__constant__ int numbers[4] = {10, 20, 30, 40};
__device__ float *pointer = table + 1;
__constant__ float *const chain[2] = {table + 2, table};
extern "C" __global__ void k(float *out) {
  int i = threadIdx.x;
  out[i] = table[i % 3] + numbers[i & 3] * 100 + *pointer * 1000 + *chain[i & 1] * 10000;
  atomicAdd(&counter, i);
  __syncthreads();
  if (i == 0) out[64] = counter;
})",
               "80");
  uint64_t out = device.make(65 * 4);
  ASSERT_EQ(text(device.run("k", 1, 64, {out})), "ok");
  std::vector<float> r = device.get<float>(out, 65);
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(r[i], float(i % 3 + 1) + float((i & 3) * 10 + 10) * 100 + 2000 +
                        (i & 1 ? 10000 : 30000));
  }
  EXPECT_EQ(r[64], 63 * 32);
}

TEST(Memory, GenericAddressesOfThreeSpaces) {
  Device device;
  TW_LOAD_CUDA(device, R"(
struct Parts { int a[6]; double d; short s; };
extern "C" __global__ void k(Parts p, int *global, int *out, double *dout) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[64];
  int local[4];
  int i = threadIdx.x;
  for (int k = 0; k < 4; ++k) local[k] = i * k;
  dynamic[i] = i * 3; fixed[i] = i * 5;
  __syncthreads();
  volatile int *choice[4] = {global, dynamic, local, fixed};
  volatile int *chosen = choice[(i + global[0]) & 3];
  out[i] = chosen[i & 3] + p.a[i % 6] * 1000;
  *chosen = 0;
  if (i == 1) dout[0] = p.d + p.s;
})",
               "80");
  struct {
    int a[6];
    double d;
    short s;
  } parts = {{1, 2, 3, 4, 5, 6}, 2.5, -7};
  const Kernel &kernel = *device.instance->program().find("k");
  std::vector<int> global = {4, 8, 12, 16};
  uint64_t pg = device.put(global), out = device.make(256),
           dout = device.make(8);
  std::vector<uint8_t> block(kernel.parameterBytes);
  std::memcpy(&block[0], &parts, sizeof(parts));
  std::memcpy(&block[kernel.parameters[1].offset], &pg, 8);
  std::memcpy(&block[kernel.parameters[2].offset], &out, 8);
  std::memcpy(&block[kernel.parameters[3].offset], &dout, 8);
  LaunchShape shape;
  shape.block.x = 64;
  shape.sharedBytes = 256;
  // The last stores of several threads meet in one word.
  device.options.checks = false;
  ASSERT_EQ(
      text(execute(*device.instance, kernel, shape, block.data(), block.size(),
                   *device.memory, device.options, device.counters)),
      "ok");
  std::vector<int> r = device.get<int>(out, 64);
  for (int i = 0; i < 64; ++i) {
    int k = i & 3;
    int want = k == 0 ? r[i] % 1000 : k == 1 ? k * 3 : k == 2 ? i * k : k * 5;
    ASSERT_EQ(r[i], want + parts.a[i % 6] * 1000) << i;
  }
  EXPECT_EQ(device.get<double>(dout, 1)[0], -4.5);
}

TEST(Memory, Atomics) {
  Device device;
  TW_LOAD_CUDA(device, R"(
#include <cuda_fp16.h>
extern "C" __global__ void k(int *i32, unsigned long long *u64, float *f, double *d, __half2 *h, unsigned *wrap, int *shared) {
  __shared__ int s[4];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[t & 3], t); 
  atomicAdd(&i32[0], t); atomicMax(&i32[1], t * 7 % 100); atomicMin(&i32[2], -t); atomicOr(&i32[3], 1 << (t & 31));
  atomicXor(&i32[4], t); atomicAnd(&i32[5], ~(1 << (t % 5))); atomicExch(&i32[6], 5); atomicSub(&i32[7], 2);
  int old = i32[8]; 
  for (int k = 0; k < 1; ++k) { int assumed; do { assumed = old; old = atomicCAS(&i32[8], assumed, assumed + 3); } while (old != assumed); }
  atomicAdd(u64, (unsigned long long)t << 20); atomicMax(u64 + 1, (unsigned long long)t << 33);
  atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
  atomicInc(wrap, 6); atomicDec(wrap + 1, 9);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&shared[threadIdx.x], s[threadIdx.x]);
})",
               "80");
  std::vector<int> i32(9, 0);
  i32[5] = -1;
  std::vector<uint64_t> u64(2, 0);
  std::vector<uint32_t> zero(4, 0);
  uint64_t pi = device.put(i32), pu = device.put(u64), pf = device.put(zero),
           pd = device.put(u64), ph = device.put(zero), pw = device.put(zero),
           ps = device.put(zero);
  device.options.threads = 2;
  // A plain look at a counter is a race, as it should be.
  device.options.checkGlobalRaces = false;
  ASSERT_EQ(text(device.run("k", 4, 64, {pi, pu, pf, pd, ph, pw, ps})), "ok");
  std::vector<int> r = device.get<int>(pi, 9);
  EXPECT_EQ(r[0], 255 * 128);
  EXPECT_EQ(r[1], 99);
  EXPECT_EQ(r[2], -255);
  EXPECT_EQ(r[3], -1);
  EXPECT_EQ(r[4], 0);
  EXPECT_EQ(r[5], ~31);
  EXPECT_EQ(r[6], 5);
  EXPECT_EQ(r[7], -512);
  EXPECT_EQ(r[8], 768);
  std::vector<uint64_t> w = device.get<uint64_t>(pu, 2);
  EXPECT_EQ(w[0], uint64_t(255 * 128) << 20);
  EXPECT_EQ(w[1], uint64_t(255) << 33);
  EXPECT_EQ(device.get<float>(pf, 1)[0], 128.0f);
  EXPECT_EQ(device.get<double>(pd, 1)[0], 64.0);
  std::vector<uint16_t> h = device.get<uint16_t>(ph, 2);
  EXPECT_EQ(h[0], 0x5C00);
  EXPECT_EQ(h[1], 0x6000);
  std::vector<uint32_t> wrapped = device.get<uint32_t>(pw, 2);
  EXPECT_EQ(wrapped[0], 256u % 7);
  EXPECT_EQ(wrapped[1], (10 - 256 % 10) % 10u);
  std::vector<int> s = device.get<int>(ps, 4);
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(s[k], 64 * k + 4 * 63 * 32);
  }
}

TEST(Memory, CountsTraffic) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(const float *in, float *out, int stride) {
  __shared__ volatile float s[1024];
  int i = threadIdx.x;
  float x = in[i * stride];
  s[i * stride] = x;
  out[i] = x;
})",
               "80");
  std::vector<float> in(32 * 32, 1.0f);
  uint64_t pin = device.put(in), out = device.make(128);
  ASSERT_EQ(text(device.run("k", 1, 32, {pin, out, 1})), "ok");
  EXPECT_EQ(device.counters.globalLoads.sectors, 4u);
  EXPECT_EQ(device.counters.globalLoads.transactions, 1u);
  EXPECT_EQ(device.counters.sharedConflicts, 0u);
  EXPECT_EQ(device.counters.sharedRequests, 1u);
  device.counters = Counters();
  ASSERT_EQ(text(device.run("k", 1, 32, {pin, out, 32})), "ok");
  EXPECT_EQ(device.counters.globalLoads.sectors, 32u);
  EXPECT_EQ(device.counters.globalLoads.transactions, 32u);
  EXPECT_EQ(device.counters.sharedConflicts, 31u);
  device.counters = Counters();
  ASSERT_EQ(text(device.run("k", 1, 32, {pin, out, 2})), "ok");
  EXPECT_EQ(device.counters.globalLoads.sectors, 8u);
  EXPECT_EQ(device.counters.globalLoads.transactions, 2u);
  EXPECT_EQ(device.counters.sharedConflicts, 1u);
}

TEST(Memory, LivesAndAddresses) {
  auto made = DeviceMemory::create(1 << 20);
  ASSERT_TRUE(made);
  DeviceMemory &memory = **made;
  auto a = memory.allocate(1000, "a");
  ASSERT_TRUE(a);
  EXPECT_EQ(*a % 256, 0u);
  EXPECT_FALSE(memory.allocate(2 << 20, "big"));
  EXPECT_FALSE(memory.free(*a + 1));
  EXPECT_TRUE(memory.beginLife(*a, 256, "one"));
  EXPECT_FALSE(memory.beginLife(*a + 128, 256, "two"));
  EXPECT_TRUE(memory.beginLife(*a + 256, 256, "two"));
  EXPECT_TRUE(memory.lookup(*a + 255).live);
  EXPECT_EQ(memory.lookup(*a + 256).label, "two");
  EXPECT_FALSE(memory.lookup(*a + 600).live);
  EXPECT_TRUE(memory.endLife(*a));
  EXPECT_FALSE(memory.endLife(*a));
  EXPECT_FALSE(memory.lookup(*a).live);
  EXPECT_TRUE(memory.beginLife(*a + 128, 64, "three"));
  uint8_t byte = 0;
  EXPECT_FALSE(memory.read(&byte, *a + 130, 1, true));
  EXPECT_TRUE(memory.write(*a + 130, &byte, 1));
  EXPECT_TRUE(memory.read(&byte, *a + 130, 1, true));
  EXPECT_FALSE(memory.read(&byte, *a + 1000, 1));
  EXPECT_TRUE(memory.free(*a));
  auto b = memory.allocate(1000, "b");
  ASSERT_TRUE(b);
  EXPECT_NE(*a, *b);
  EXPECT_NE(memory.lookup(*a).label.find("freed"), std::string::npos);
  // Allocating and freeing more than the reach goes around.
  for (int i = 0; i < 5000; ++i) {
    auto c = memory.allocate(1 << 19, "c");
    ASSERT_TRUE(c);
    ASSERT_TRUE(memory.free(*c));
  }
  EXPECT_EQ(memory.lookup(*b).label, "b");
}
