//===- ControlTest.cpp - branches, loops and calls ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Harness.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::sim;
using namespace tilewright::sim::test;

static int collatz(int x) {
  int steps = 0;
  while (x != 1 && steps < 200) {
    if (x % 2 == 0) {
      x /= 2;
    } else if (x % 3 == 0) {
      x = x / 3 * 2 + 1;
      if (x > 500) {
        break;
      }
    } else {
      x = 3 * x + 1;
      if (x > 5000) {
        return -steps;
      }
    }
    ++steps;
  }
  return steps * 1000 + x;
}

TEST(Control, NestedDivergence) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = i + 1;
  int steps = 0;
  while (x != 1 && steps < 200) {
    if (x % 2 == 0) {
      x /= 2;
    } else if (x % 3 == 0) {
      x = x / 3 * 2 + 1;
      if (x > 500) break;
    } else {
      x = 3 * x + 1;
      if (x > 5000) { out[i] = -steps; return; }
    }
    ++steps;
  }
  out[i] = steps * 1000 + x;
})",
               "80");
  uint64_t out = device.make(1000 * 4);
  ASSERT_EQ(text(device.run("k", 8, 128, {out, 1000})), "ok");
  std::vector<int> found = device.get<int>(out, 1000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(found[i], collatz(i + 1)) << i;
  }
}

TEST(Control, SwitchesAndLoopsInLoops) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(int *out) {
  int i = threadIdx.x;
  int sum = 0;
  for (int j = 0; j < i % 7; ++j) {
    for (int k = j; k < i % 11; ++k) {
      switch ((i + j * k) % 7) {
      case 0: sum += 1; break;
      case 1: sum += 10; continue;
      case 2: sum ^= 0x55; break;
      case 3: sum -= 3; // falls through
      case 4: sum *= 2; break;
      case 5: if (sum > 1000) goto out; sum += j; break;
      default: sum += k;
      }
      if (sum % 5 == 4) break;
      sum += 7;
    }
  }
out:
  out[i] = sum;
})",
               "80");
  uint64_t out = device.make(256 * 4);
  ASSERT_EQ(text(device.run("k", 1, 256, {out})), "ok");
  std::vector<int> found = device.get<int>(out, 256);
  for (int i = 0; i < 256; ++i) {
    int sum = 0;
    for (int j = 0; j < i % 7; ++j) {
      for (int k = j; k < i % 11; ++k) {
        switch ((i + j * k) % 7) {
        case 0:
          sum += 1;
          break;
        case 1:
          sum += 10;
          continue;
        case 2:
          sum ^= 0x55;
          break;
        case 3:
          sum -= 3;
          [[fallthrough]];
        case 4:
          sum *= 2;
          break;
        case 5:
          if (sum > 1000) {
            goto out;
          }
          sum += j;
          break;
        default:
          sum += k;
        }
        if (sum % 5 == 4) {
          break;
        }
        sum += 7;
      }
    }
  out:
    ASSERT_EQ(found[i], sum) << i;
  }
}

TEST(Control, CallsOfFunctions) {
  Device device;
  TW_LOAD_CUDA(device, R"(
__device__ __noinline__ int pick(int x, const int *y) {
  int t[8];
  for (int i = 0; i < 8; ++i) t[i] = y[i] * x;
  if (x % 3 == 0) return t[x & 7];
  return t[(x + 1) & 7] + 1;
}
__device__ __noinline__ float twice(float x) {
  int y[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  return x * 2 + pick(3, y);
}
extern "C" __global__ void k(const int *in, int *out) {
  int i = threadIdx.x;
  int r = 0;
  if (i % 2) r = pick(i, in);
  else r = pick(i * 2, in) * 3;
  out[i] = r + (int)twice(i);
})",
               "80");
  std::vector<int> in = {5, 3, 8, 1, 9, 2, 7, 4};
  uint64_t pin = device.put(in);
  uint64_t out = device.make(64 * 4);
  ASSERT_EQ(text(device.run("k", 1, 64, {pin, out})), "ok");
  auto pick = [](int x, const int *y) {
    return x % 3 == 0 ? y[x & 7] * x : y[(x + 1) & 7] * x + 1;
  };
  const int one[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int> found = device.get<int>(out, 64);
  for (int i = 0; i < 64; ++i) {
    int r = i % 2 ? pick(i, in.data()) : pick(i * 2, in.data()) * 3;
    ASSERT_EQ(found[i], r + int(float(i) * 2 + float(pick(3, one)))) << i;
  }
}

TEST(Control, IndexedBranches) {
  Device device;
  ASSERT_TRUE(device.load(R"(.version 7.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  rem.u32 %r1, %r0, 5;
  setp.lt.u32 %p, %r0, 48;
  mov.u32 %r2, 99;
table: .branchtargets A, B, C, B, A;
  @%p brx.idx %r1, table;
  bra DONE;
A: mov.u32 %r2, 10;
  bra DONE;
B: mov.u32 %r2, 20;
C: add.u32 %r2, %r2, 3;
DONE:
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd1, %rd0;
  st.global.u32 [%rd1], %r2;
  exit;
}
)"));
  uint64_t out = device.make(64 * 4);
  ASSERT_EQ(text(device.run("k", 1, 64, {out})), "ok");
  std::vector<int> found = device.get<int>(out, 64);
  for (int i = 0; i < 64; ++i) {
    const int want[] = {10, 23, 102, 23, 10};
    ASSERT_EQ(found[i], i < 48 ? want[i % 5] : 99) << i;
  }
}

TEST(Control, LanesMeetAgain) {
  // After each branch all lanes of the warp must vote together.
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(unsigned *out) {
  int i = threadIdx.x;
  unsigned x = 0;
  if (i % 3 == 0) x = 1;
  else if (i % 3 == 1) { for (int j = 0; j < i; ++j) x += j; }
  out[i] = __activemask();
  for (int j = 0; j <= i % 4; ++j) x += 2;
  out[64 + i] = __activemask();
  while (true) { if (x > i * 10) break; x += 3; }
  out[128 + i] = __ballot_sync(~0u, x % 2);
})",
               "80");
  uint64_t out = device.make(192 * 4);
  ASSERT_EQ(text(device.run("k", 1, 64, {out})), "ok");
  std::vector<unsigned> found = device.get<unsigned>(out, 192);
  for (int i = 0; i < 128; ++i) {
    ASSERT_EQ(found[i], ~0u) << i;
  }
}

TEST(Control, PartialWarpsAndThreeDimensions) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(unsigned *out) {
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20;
})",
               "80");
  const Kernel &kernel = *device.instance->program().find("k");
  LaunchShape shape;
  shape.grid = {3, 2, 2};
  shape.block = {5, 3, 3};
  uint64_t out = device.make(12 * 45 * 4);
  device.options.threads = 2;
  device.options.blockOrderSeed = 99;
  ASSERT_EQ(text(execute(*device.instance, kernel, shape, &out, 8,
                         *device.memory, device.options, device.counters)),
            "ok");
  std::vector<unsigned> found = device.get<unsigned>(out, 12 * 45);
  for (unsigned b = 0; b < 12; ++b) {
    for (unsigned t = 0; t < 45; ++t) {
      unsigned want = t % 5 | t / 5 % 3 << 4 | t / 15 << 8 | b % 3 << 12 |
                      b / 3 % 2 << 16 | b / 6 << 20;
      ASSERT_EQ(found[b * 45 + t], want) << b << " " << t;
    }
  }
}

TEST(Control, MathFunctions) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  out[i] = expf(x); out[n + i] = sinf(x); out[2 * n + i] = tanhf(x);
  out[3 * n + i] = erff(x); out[4 * n + i] = logf(fabsf(x) + 0.1f);
  out[5 * n + i] = powf(fabsf(x), 1.7f); out[6 * n + i] = cosf(x * 1e6f);
  out[7 * n + i] = sqrtf(fabsf(x)) / (1.5f + x * x);
}
extern "C" __global__ void d(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i];
  out[i] = exp(x); out[n + i] = sin(x); out[2 * n + i] = pow(fabs(x), 2.3);
  out[3 * n + i] = log(fabs(x) + 0.1); out[4 * n + i] = 1.0 / (x + 0.01); out[5 * n + i] = rsqrt(fabs(x) + 1e-3);
})",
               "80");
  const int n = 300;
  std::vector<float> in(n);
  std::vector<double> wide(n);
  for (int i = 0; i < n; ++i) {
    in[i] = float(i - 150) * 0.0625f;
    wide[i] = in[i];
  }
  uint64_t pin = device.put(in), out = device.make(8 * n * 4);
  ASSERT_EQ(text(device.run("k", 3, 128, {pin, out, n})), "ok");
  std::vector<float> found = device.get<float>(out, 8 * n);
  auto near = [&](double value, double want, double tolerance) {
    return std::fabs(value - want) <= tolerance * (1e-3 + std::fabs(want));
  };
  for (int i = 0; i < n; ++i) {
    double x = in[i];
    const double want[] = {std::exp(x),
                           std::sin(x),
                           std::tanh(x),
                           std::erf(x),
                           std::log(double(std::fabs(in[i]) + 0.1f)),
                           std::pow(std::fabs(x), double(1.7f)),
                           std::cos(double(in[i] * 1e6f)),
                           std::sqrt(std::fabs(x)) / (1.5 + x * x)};
    for (int k = 0; k < 8; ++k) {
      ASSERT_TRUE(near(found[k * n + i], want[k], 1e-6))
          << k << " " << x << " " << found[k * n + i] << " " << want[k];
    }
  }
  uint64_t pwide = device.put(wide), dout = device.make(6 * n * 8);
  ASSERT_EQ(text(device.run("d", 3, 128, {pwide, dout, n})), "ok");
  std::vector<double> results = device.get<double>(dout, 6 * n);
  for (int i = 0; i < n; ++i) {
    double x = wide[i];
    const double want[] = {std::exp(x),
                           std::sin(x),
                           std::pow(std::fabs(x), 2.3),
                           std::log(std::fabs(x) + 0.1),
                           1.0 / (x + 0.01),
                           1 / std::sqrt(std::fabs(x) + 1e-3)};
    for (int k = 0; k < 6; ++k) {
      ASSERT_TRUE(near(results[k * n + i], want[k], 1e-14))
          << k << " " << x << " " << results[k * n + i] / want[k] - 1;
    }
  }
}
