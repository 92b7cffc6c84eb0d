//===- WarpTest.cpp - exchanges between lanes and matrices ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Harness.h"

#include <cmath>
#include <random>

using namespace tilewright;
using namespace tilewright::sim;
using namespace tilewright::sim::test;

TEST(Warp, ShufflesAndVotes) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(int *out) {
  int i = threadIdx.x, n = 64;
  int x = i * 10;
  out[i] = __shfl_sync(~0u, x, i * 5);
  out[n + i] = __shfl_up_sync(~0u, x, 3, 16);
  out[2 * n + i] = __shfl_down_sync(~0u, x, 5);
  out[3 * n + i] = __shfl_xor_sync(~0u, x, 9, 16);
  out[4 * n + i] = __shfl_sync(~0u, x, 3, 8);
  out[5 * n + i] = __ballot_sync(~0u, i % 3 == 0);
  out[6 * n + i] = __any_sync(~0u, i == 40) + 2 * __all_sync(~0u, i < 64);
  out[7 * n + i] = __match_any_sync(~0u, i % 5);
  int same; out[8 * n + i] = __match_all_sync(~0u, i / 32, &same) + same;
  out[9 * n + i] = __reduce_add_sync(~0u, i) + __reduce_max_sync(~0u, -i) + __reduce_xor_sync(~0u, (unsigned)i);
  double d = i * 0.5; out[10 * n + i] = (int)__shfl_xor_sync(~0u, d, 1);
  if (i % 2) out[11 * n + i] = __shfl_sync(0xAAAAAAAAu, x, 31); else out[11 * n + i] = __activemask();
  out[12 * n + i] = __syncthreads_count(i % 3 == 0) + 1000 * __syncthreads_and(i < 64) + 10000 * __syncthreads_or(i == 7);
})",
               "80");
  const int n = 64;
  uint64_t out = device.make(13 * n * 4);
  ASSERT_EQ(text(device.run("k", 1, n, {out})), "ok");
  std::vector<int> r = device.get<int>(out, 13 * n);
  for (int i = 0; i < n; ++i) {
    int base = i & 32;
    int lane = i & 31;
    ASSERT_EQ(r[i], (base + i * 5 % 32) * 10) << i;
    ASSERT_EQ(r[n + i], (lane % 16 < 3 ? i : i - 3) * 10) << i;
    ASSERT_EQ(r[2 * n + i], (lane + 5 > 31 ? i : i + 5) * 10) << i;
    ASSERT_EQ(r[3 * n + i], (i ^ 9) * 10) << i;
    ASSERT_EQ(r[4 * n + i], ((i & ~7) + 3) * 10) << i;
    unsigned ballot = 0, match = 0;
    unsigned x = 0;
    for (int k = 0; k < 32; ++k) {
      ballot |= unsigned((base + k) % 3 == 0) << k;
      match |= unsigned((base + k) % 5 == i % 5) << k;
      x ^= unsigned(base + k);
    }
    ASSERT_EQ(unsigned(r[5 * n + i]), ballot);
    ASSERT_EQ(r[6 * n + i], (i >= 32) + 2);
    ASSERT_EQ(unsigned(r[7 * n + i]), match);
    ASSERT_EQ(r[8 * n + i], 0);
    ASSERT_EQ(r[9 * n + i], base * 32 + 31 * 16 - base + int(x));
    ASSERT_EQ(r[10 * n + i], int((i ^ 1) * 0.5));
    ASSERT_EQ(r[11 * n + i], i % 2 ? (base + 31) * 10 : 0x55555555);
    ASSERT_EQ(r[12 * n + i], 22 + 1000 + 10000);
  }
}

namespace {
/// What a matrix instruction computes, element by element, as the manual's
/// tables place them.
struct Case {
  const char *shape;
  const char *a;
  const char *b;
  const char *accumulator;
  unsigned k;
  unsigned elementBits;
};
} // namespace

static double decoded(const std::string &type, uint32_t x) {
  if (type == "f16") {
    return double(bits<_Float16>(uint16_t(x)));
  }
  if (type == "bf16") {
    return bits<float>(x << 16);
  }
  if (type == "tf32") {
    return bits<float>(x & 0xFFFFE000);
  }
  if (type == "s8") {
    return int8_t(x);
  }
  if (type == "u8") {
    return uint8_t(x);
  }
  if (type == "e5m2") {
    return double(bits<_Float16>(uint16_t(x << 8)));
  }
  // e4m3
  unsigned exponent = x >> 3 & 15;
  double m = exponent ? std::ldexp(8 + (x & 7), int(exponent) - 10)
                      : std::ldexp(x & 7, -9);
  return x & 0x80 ? -m : m;
}

/// A pattern of a small number of that type.
static uint32_t pattern(const std::string &type, unsigned seed) {
  int value = int(seed * 7 % 9) - 4;
  if (type == "f16") {
    return bits<uint16_t>(_Float16(value * 0.5f));
  }
  if (type == "bf16") {
    return bits<uint32_t>(value * 0.5f) >> 16;
  }
  if (type == "tf32") {
    return bits<uint32_t>(value * 0.25f) | (seed & 0x1FFF);
  }
  if (type == "s8") {
    return uint8_t(seed * 37);
  }
  if (type == "u8") {
    return uint8_t(seed * 53);
  }
  if (type == "e5m2") {
    return bits<uint16_t>(_Float16(value)) >> 8;
  }
  return uint8_t((seed % 2) << 7 | (6 + seed % 3) << 3 | seed % 8);
}

static std::string list(const char *prefix, unsigned count) {
  std::string result = "{";
  for (unsigned i = 0; i < count; ++i) {
    result += (i ? ", %" : "%") + std::string(prefix) + std::to_string(i);
  }
  return result + "}";
}

static void runMatrix(const Case &c) {
  SCOPED_TRACE(std::string(c.shape) + "." + c.a + "." + c.b + "." +
               c.accumulator);
  unsigned e = 32 / c.elementBits;
  unsigned na = 16 * c.k / 32 / e;
  unsigned nb = 8 * c.k / 32 / e;
  bool isHalf = std::string(c.accumulator) == "f16";
  bool isInt = std::string(c.accumulator) == "s32";
  unsigned nc = isHalf ? 2 : 4;
  unsigned total = na + nb + nc;
  std::string load;
  for (unsigned i = 0; i < total; ++i) {
    std::string reg = i < na        ? "%a" + std::to_string(i)
                      : i < na + nb ? "%b" + std::to_string(i - na)
                                    : "%c" + std::to_string(i - na - nb);
    load +=
        "  ld.global.b32 " + reg + ", [%rd2+" + std::to_string(4 * i) + "];\n";
  }
  std::string store;
  for (unsigned i = 0; i < nc; ++i) {
    store += "  st.global.b32 [%rd3+" + std::to_string(4 * i) + "], %d" +
             std::to_string(i) + ";\n";
  }
  std::string b = nb == 1 ? "%b0" : list("b", nb);
  std::string ptx =
      ".version 8.4\n.target sm_89\n.address_size 64\n"
      ".entry k(.param .u64 in, .param .u64 out)\n{\n"
      "  .reg .b32 %r0, %a<4>, %b<2>, %c<4>, %d<4>;\n  .reg .b64 %rd<4>;\n"
      "  ld.param.u64 %rd0, [in];\n  ld.param.u64 %rd1, [out];\n"
      "  mov.u32 %r0, %tid.x;\n  mad.wide.u32 %rd2, %r0, " +
      std::to_string(4 * total) + ", %rd0;\n  mad.wide.u32 %rd3, %r0, " +
      std::to_string(4 * nc) + ", %rd1;\n" + load + "  mma.sync.aligned." +
      c.shape + ".row.col." + c.accumulator + "." + c.a + "." + c.b + "." +
      c.accumulator + " " + list("d", nc) + ", " + list("a", na) + ", " + b +
      ", " + list("c", nc) + ";\n" + store + "  ret;\n}\n";
  Device device;
  ASSERT_TRUE(device.load(ptx));
  std::vector<double> A(16 * c.k), B(c.k * 8), C(16 * 8);
  std::vector<uint32_t> in(32 * total);
  auto element = [&](uint32_t &word, unsigned j, uint32_t value) {
    word |= value << (j * c.elementBits % 32);
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane >> 2, t = lane % 4;
    uint32_t *regs = &in[lane * total];
    for (unsigned i = 0; i < na * e; ++i) {
      // The tables of the manual, for 1, 2 and 4 elements in a register.
      unsigned r = i / e;
      unsigned row = r % 2 == 0 ? group : group + 8;
      unsigned column = t * e + i % e + (r < 2 ? 0 : 4 * e);
      uint32_t value = pattern(c.a, lane * 31 + i * 5 + 1);
      element(regs[r], i % e, value);
      A[row * c.k + column] = decoded(c.a, value);
    }
    for (unsigned i = 0; i < nb * e; ++i) {
      unsigned row = t * e + i % e + (i / e) * 4 * e;
      uint32_t value = pattern(c.b, lane * 17 + i * 3 + 2);
      element(regs[na + i / e], i % e, value);
      B[row * 8 + group] = decoded(c.b, value);
    }
    for (unsigned i = 0; i < 4; ++i) {
      int value = int(lane * 4 + i) % 13 - 6;
      C[(i < 2 ? group : group + 8) * 8 + t * 2 + (i & 1)] = value;
      if (isHalf) {
        regs[na + nb + i / 2] |= uint32_t(bits<uint16_t>(_Float16(value)))
                                 << (i & 1) * 16;
      } else {
        regs[na + nb + i] =
            isInt ? uint32_t(value) : bits<uint32_t>(float(value));
      }
    }
  }
  uint64_t out = device.make(32 * nc * 4);
  ASSERT_EQ(text(device.run("k", 1, 32, {device.put(in), out})), "ok");
  std::vector<uint32_t> found = device.get<uint32_t>(out, 32 * nc);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = (lane >> 2) + (i < 2 ? 0 : 8);
      unsigned column = lane % 4 * 2 + (i & 1);
      double want = C[row * 8 + column];
      for (unsigned k = 0; k < c.k; ++k) {
        want += A[row * c.k + k] * B[k * 8 + column];
      }
      double value = isHalf  ? double(bits<_Float16>(uint16_t(
                                   found[lane * nc + i / 2] >> (i & 1) * 16)))
                     : isInt ? double(int32_t(found[lane * nc + i]))
                             : double(bits<float>(found[lane * nc + i]));
      // All sums here are exact.
      ASSERT_EQ(value, want) << lane << " " << i;
    }
  }
}

TEST(Warp, MatrixProducts) {
  const Case cases[] = {
      {"m16n8k4", "tf32", "tf32", "f32", 4, 32},
      {"m16n8k8", "tf32", "tf32", "f32", 8, 32},
      {"m16n8k8", "f16", "f16", "f32", 8, 16},
      {"m16n8k16", "f16", "f16", "f32", 16, 16},
      {"m16n8k8", "f16", "f16", "f16", 8, 16},
      {"m16n8k16", "f16", "f16", "f16", 16, 16},
      {"m16n8k8", "bf16", "bf16", "f32", 8, 16},
      {"m16n8k16", "bf16", "bf16", "f32", 16, 16},
      {"m16n8k16", "s8", "s8", "s32", 16, 8},
      {"m16n8k32", "s8", "s8", "s32", 32, 8},
      {"m16n8k32", "u8", "s8", "s32", 32, 8},
      {"m16n8k32", "s8", "u8", "s32", 32, 8},
      {"m16n8k32", "e4m3", "e4m3", "f32", 32, 8},
      {"m16n8k32", "e5m2", "e4m3", "f32", 32, 8},
      {"m16n8k32", "e5m2", "e5m2", "f32", 32, 8},
  };
  for (const Case &c : cases) {
    runMatrix(c);
  }
}

TEST(Warp, MatricesFromSharedMemory) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(const unsigned short *in, unsigned *out) {
  __shared__ __align__(16) unsigned short s[32 * 8];
  int i = threadIdx.x;
  for (int k = 0; k < 8; ++k) s[i * 8 + k] = in[i * 8 + k];
  __syncthreads();
  unsigned address = (unsigned)__cvta_generic_to_shared(s + i * 8);
  unsigned r0, r1, r2, r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(address));
  out[i] = r0; out[32 + i] = r1; out[64 + i] = r2; out[96 + i] = r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(address));
  out[128 + i] = r0; out[160 + i] = r1;
})",
               "80");
  std::vector<uint16_t> in(256);
  for (unsigned i = 0; i < 256; ++i) {
    in[i] = uint16_t(i * 3);
  }
  uint64_t out = device.make(192 * 4);
  ASSERT_EQ(text(device.run("k", 1, 32, {device.put(in), out})), "ok");
  std::vector<uint32_t> r = device.get<uint32_t>(out, 192);
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned row = lane / 4, column = lane % 4 * 2;
    for (unsigned m = 0; m < 4; ++m) {
      ASSERT_EQ(r[32 * m + lane], in[m * 64 + row * 8 + column] |
                                      in[m * 64 + row * 8 + column + 1] << 16);
    }
    for (unsigned m = 0; m < 2; ++m) {
      ASSERT_EQ(r[128 + 32 * m + lane],
                in[m * 64 + column * 8 + row] |
                    in[m * 64 + (column + 1) * 8 + row] << 16);
    }
  }
}

static const char *const copySource = R"(
extern "C" __global__ void k(const float *in, float *out, int bytes) {
  __shared__ __align__(16) float s[2][128];
  int i = threadIdx.x;
  unsigned a = (unsigned)__cvta_generic_to_shared(&s[0][i * 4]);
  unsigned b = (unsigned)__cvta_generic_to_shared(&s[1][i * 4]);
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" :: "r"(a), "l"(in + i * 4), "r"(i % 2 ? 16 : bytes) : "memory");
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(b), "l"(in + 128 + i * 4) : "memory");
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group WAIT;" ::: "memory");
  SYNC
  out[i] = s[0][(31 - i) * 4 + 1];
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[32 + i] = s[1][(31 - i) * 4 + 1];
})";

static std::string copyKernel(const char *wait, const char *sync) {
  std::string source = copySource;
  source.replace(source.find("WAIT"), 4, wait);
  source.replace(source.find("SYNC"), 4, sync);
  return source;
}

TEST(Warp, AsynchronousCopies) {
  Device device;
  TW_LOAD_CUDA(device, copyKernel("1", "__syncthreads();"), "80");
  std::vector<float> in(256);
  for (int i = 0; i < 256; ++i) {
    in[i] = float(i);
  }
  uint64_t out = device.make(256);
  ASSERT_EQ(text(device.run("k", 1, 32, {device.put(in), out, 4})), "ok");
  std::vector<float> r = device.get<float>(out, 64);
  for (int i = 0; i < 32; ++i) {
    int j = 31 - i;
    ASSERT_EQ(r[i], j % 2 ? in[j * 4 + 1] : 0.0f);
    ASSERT_EQ(r[32 + i], in[128 + j * 4 + 1]);
  }
}

TEST(Warp, AsynchronousCopiesWithoutWait) {
  for (bool checks : {false, true}) {
    Device device;
    TW_LOAD_CUDA(device, copyKernel("2", "__syncthreads();"), "80");
    device.options.checks = checks;
    std::vector<float> in(256, 3.0f);
    uint64_t out = device.make(256);
    Status status = device.run("k", 1, 32, {device.put(in), out, 16});
    if (checks) {
      EXPECT_EQ(device.fault.kind, FaultKind::AsyncCopyPending) << text(status);
    } else {
      ASSERT_EQ(text(status), "ok");
      EXPECT_NE(device.get<float>(out, 1)[0], 3.0f);
    }
  }
}
