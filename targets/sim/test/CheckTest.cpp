//===- CheckTest.cpp - planted faults and their clean twins ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Harness.h"

using namespace tilewright;
using namespace tilewright::sim;
using namespace tilewright::sim::test;

namespace {
/// One kernel text with a place for the fault, and what must be found.
struct Planted {
  const char *source;
  const char *faulty;
  const char *clean;
  FaultKind kind;
};
} // namespace

/// Runs both twins with buffers `in` (256 initialised ints) and `out` (256
/// uninitialised ones), 4 blocks of 64 threads.
static void runPlanted(const Planted &planted, Fault *fault = nullptr) {
  for (bool isFaulty : {false, true}) {
    std::string source = planted.source;
    ASSERT_NE(source.find("FAULT"), std::string::npos);
    for (size_t at; (at = source.find("FAULT")) != std::string::npos;) {
      source.replace(at, 5, isFaulty ? planted.faulty : planted.clean);
    }
    Device device;
    TW_LOAD_CUDA(device, source, "80");
    std::vector<int> in(256);
    for (int i = 0; i < 256; ++i) {
      in[i] = i;
    }
    uint64_t pin = device.put(in, "in");
    uint64_t pout = device.make(1024, "out");
    Status status = device.run("k", 4, 64, {pin, pout}, 1024);
    if (!isFaulty) {
      ASSERT_EQ(text(status), "ok") << source;
      continue;
    }
    EXPECT_EQ(device.fault.kind, planted.kind) << text(status) << "\n"
                                               << source;
    EXPECT_EQ(status.code(), ErrorCode::DeviceFault);
    EXPECT_NE(device.fault.ptxLine, 0u);
    EXPECT_NE(device.fault.sourceLine, 0u);
    EXPECT_EQ(device.fault.kernel, "k");
    if (fault) {
      *fault = device.fault;
    }
    // Without checks it goes on, unless it cannot.
    device.options.checks = false;
    Status unchecked = device.run("k", 4, 64, {pin, pout}, 1024);
    bool mayFail = planted.kind == FaultKind::OutOfBounds ||
                   planted.kind == FaultKind::DivergentBarrier ||
                   planted.kind == FaultKind::BarrierDeadlock ||
                   planted.kind == FaultKind::Misaligned ||
                   planted.kind == FaultKind::Trap;
    EXPECT_TRUE(unchecked.isOk() || mayFail) << text(unchecked);
  }
}

TEST(Check, OutOfBounds) {
  Fault fault;
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[FAULT];
})",
              "i + 16", "(i + 16) % 256", FaultKind::OutOfBounds},
             &fault);
  EXPECT_EQ(fault.block[0], 3u);
  EXPECT_EQ(fault.thread[0], 48u);
  EXPECT_EQ(fault.buffer, "0 bytes behind the end of 'in' (1024 bytes)");
  EXPECT_EQ(fault.sourceLine, 3u);
  EXPECT_NE(fault.sourceFile.find("kernel.cu"), std::string::npos);
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  ((volatile int *)out)[FAULT] = in[i];
})",
              "i - 1", "i", FaultKind::OutOfBounds});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  extern __shared__ int s[];
  s[FAULT] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x * 4 + 3];
})",
              "threadIdx.x * 4 + 4", "threadIdx.x * 4 + 3",
              FaultKind::OutOfBounds});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int t[4] = {1, 2, 3, 4};
  t[in[threadIdx.x & 3]] = 9;
  out[blockIdx.x * 64 + threadIdx.x] = t[in[threadIdx.x] FAULT];
})",
              "* 1000", "& 3", FaultKind::OutOfBounds});
}

TEST(Check, Misaligned) {
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = *(const int *)((const char *)in + (i * 4 FAULT) % 1000);
})",
              "+ 2", "+ 0", FaultKind::Misaligned});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  __shared__ int4 s[65];
  s[threadIdx.x] = make_int4(1, 2, 3, 4);
  if (threadIdx.x == 0) s[64] = s[0];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = ((const int4 *)((char *)s FAULT))[threadIdx.x].x + ((const int4 *)((char *)s FAULT))[threadIdx.x].w;
})",
              "+ 8", "+ 0", FaultKind::Misaligned});
}

TEST(Check, Uninitialized) {
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  FAULT
  ((volatile int *)out)[i] = ((volatile int *)out)[i] + in[i];
})",
              "", "((volatile int *)out)[i] = 1;", FaultKind::Uninitialized});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  extern __shared__ int s[];
  if (threadIdx.x FAULT) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
})",
              "!= 40", "!= 400", FaultKind::Uninitialized});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  volatile int t[8];
  for (int i = 0; i < FAULT; ++i) t[i] = in[i];
  out[blockIdx.x * 64 + threadIdx.x] = t[threadIdx.x & 7];
})",
              "in[6]", "in[8]", FaultKind::Uninitialized});
}

TEST(Check, SharedRaces) {
  // Read after write, write after read, between warps and within one.
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  extern __shared__ volatile int s[];
  s[threadIdx.x] = 0;
  __syncthreads();
  ((int *)s)[threadIdx.x] = in[threadIdx.x];
  FAULT
  out[blockIdx.x * 64 + threadIdx.x] = ((int *)s)[63 - threadIdx.x];
})",
              "", "__syncthreads();", FaultKind::SharedRace});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  extern __shared__ int s[];
  for (int round = 0; round < 3; ++round) {
    s[threadIdx.x] = in[threadIdx.x] + round;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = s[(threadIdx.x + 32) & 63];
    FAULT
  }
})",
              "", "__syncthreads();", FaultKind::SharedRace});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  extern __shared__ int s[];
  s[threadIdx.x] = in[threadIdx.x];
  FAULT
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 1];
})",
              "", "__syncwarp();", FaultKind::SharedRace});
}

TEST(Check, ManyBarriers) {
  // More than the words for races can number.
  Fault fault;
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  extern __shared__ int s[];
  int x = 0;
  for (int round = 0; round < 2100; ++round) {
    s[threadIdx.x] = in[threadIdx.x] + x;
    __syncthreads();
    x = s[63 - threadIdx.x] & 255;
    if (round != FAULT) __syncthreads();
  }
  out[blockIdx.x * 64 + threadIdx.x] = x;
})",
              "2050", "-1", FaultKind::SharedRace},
             &fault);
}

TEST(Check, GlobalRaces) {
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  FAULT = in[blockIdx.x];
})",
              "out[threadIdx.x]", "out[blockIdx.x * 64 + threadIdx.x]",
              FaultKind::GlobalRace});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  int *p = (int *)in;
  p[i] = i * 2;
  __syncthreads();
  out[i] = p[FAULT];
})",
              "(i + 64) % 128", "i", FaultKind::GlobalRace});
  // Bytes of one word that belong to different blocks.
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  unsigned char *b = (unsigned char *)out;
  if (threadIdx.x < 50) b[blockIdx.x * FAULT + threadIdx.x] = in[threadIdx.x];
})",
              "49", "50", FaultKind::GlobalRace});
}

TEST(Check, LastBlockMayReadWhatOthersPublished) {
  const char *source = R"(
__device__ unsigned done;
extern "C" __global__ void k(const int *in, int *out) {
  __shared__ bool last;
  int sum = in[blockIdx.x * 64 + threadIdx.x];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) {
    out[blockIdx.x + 1] = sum;
    FAULT
    last = atomicAdd(&done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += out[b + 1];
    out[0] = all;
  }
})";
  runPlanted({source, "", "__threadfence();", FaultKind::GlobalRace});
}

TEST(Check, DivergentBarriers) {
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (in[threadIdx.x] < FAULT) { __syncthreads(); out[i] = 1; }
  else { out[i] = 2; }
})",
              "40", "100", FaultKind::DivergentBarrier});
  // One warp leaves, the other waits.
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  if (threadIdx.x >= FAULT) return;
  out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
  __syncthreads();
})",
              "32", "64", FaultKind::DivergentBarrier});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  if (threadIdx.x >= FAULT) return;
  out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
  __syncthreads();
})",
              "63", "64", FaultKind::DivergentBarrier});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x < 32) asm volatile("bar.sync 1, FAULT;"); else asm volatile("bar.arrive 1, 64;");
  out[i] = in[i];
})",
              "96", "64", FaultKind::BarrierDeadlock});
  runPlanted({R"(extern "C" __global__ void k(const int *in, int *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  int x = in[i];
  if (x % 2) x += __shfl_xor_sync(FAULT, x, 2);
  out[i] = x;
})",
              "0xFFFFFFFFu", "0xAAAAAAAAu", FaultKind::DivergentWarp});
}

TEST(Check, LivesOfBuffersInAnArena) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(const int *in, int *out, int from) {
  int i = threadIdx.x;
  out[i] = in[from + i];
})",
               "80");
  uint64_t arena = device.make(4096, "arena");
  uint64_t out = device.make(256, "out");
  std::vector<int> values(64, 5);
  ASSERT_TRUE(device.memory->beginLife(arena, 256, "first"));
  ASSERT_TRUE(device.memory->beginLife(arena + 256, 256, "second"));
  ASSERT_TRUE(device.memory->write(arena, values.data(), 256));
  EXPECT_EQ(text(device.run("k", 1, 64, {arena, out, 0})), "ok");
  // Into the neighbour, which an ordinary bounds check would allow.
  EXPECT_FALSE(device.run("k", 1, 64, {arena, out, 700}));
  EXPECT_EQ(device.fault.kind, FaultKind::OutOfBounds);
  EXPECT_FALSE(device.run("k", 1, 64, {arena, out, 64}));
  EXPECT_EQ(device.fault.kind, FaultKind::Uninitialized);
  ASSERT_TRUE(device.memory->endLife(arena));
  EXPECT_FALSE(device.run("k", 1, 64, {arena, out, 0}));
  EXPECT_EQ(device.fault.kind, FaultKind::UseAfterFree);
  EXPECT_EQ(device.fault.buffer, "'first', whose life has ended");
  // A new life begins with undefined contents.
  ASSERT_TRUE(device.memory->beginLife(arena, 256, "third"));
  EXPECT_FALSE(device.run("k", 1, 64, {arena, out, 0}));
  EXPECT_EQ(device.fault.kind, FaultKind::Uninitialized);
  ASSERT_TRUE(device.memory->free(arena));
  EXPECT_FALSE(device.run("k", 1, 64, {arena, out, 0}));
  EXPECT_EQ(device.fault.kind, FaultKind::UseAfterFree);
}

TEST(Check, LoopsWithoutEnd) {
  Device device;
  TW_LOAD_CUDA(device, R"(
extern "C" __global__ void k(volatile int *p) { while (p[threadIdx.x] == 0) {} })",
               "80");
  device.options.maxWarpInstructionsPerBlock = 10000;
  std::vector<int> zero(32, 0);
  EXPECT_FALSE(device.run("k", 1, 32, {device.put(zero)}));
  EXPECT_EQ(device.fault.kind, FaultKind::InstructionLimit);
}

TEST(Check, ShapesThatDoNotFit) {
  Device device;
  ASSERT_TRUE(device.load(R"(.version 7.0
.target sm_80
.address_size 64
.entry k(.param .u64 p) .maxntid 64, 1, 1
{
  ret;
}
)"));
  EXPECT_EQ(device.run("k", 1, 65, {0}).code(), ErrorCode::OptionInvalid);
  EXPECT_EQ(device.run("k", 0, 64, {0}).code(), ErrorCode::OptionInvalid);
  EXPECT_EQ(device.run("k", 1, 64, {0}, 200000).code(),
            ErrorCode::OptionInvalid);
  EXPECT_TRUE(device.run("k", 1, 64, {0}, 100000));
}
