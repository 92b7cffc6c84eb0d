//===- SimBench.cpp - how fast the simulator executes -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Prints lane-instructions per second for a mix of loads and multiply-adds,
// with and without checks: sim-bench [THREADS].
//
//===----------------------------------------------------------------------===//

#include "targets/sim/DeviceMemory.h"
#include "targets/sim/Execute.h"
#include "targets/sim/Program.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace tilewright;
using namespace tilewright::sim;

/// A product of two matrices as a simple kernel does it: per step, a row of
/// one from global and an element of the other from shared memory, into eight
/// sums.
static std::string mixText() {
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry mix(.param .u64 a, .param .u64 b, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<16>;
  .reg .f32 %f<16>;
  .reg .b64 %rd<16>;
  .shared .align 16 .b8 tile[512];
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.s32 %r4, %r3, 128, %r2;
  mul.wide.u32 %rd5, %r2, 4;
  add.s64 %rd6, %rd3, %rd5;
  ld.global.f32 %f9, [%rd6];
  shl.b32 %r5, %r2, 2;
  mov.u32 %r6, tile;
  add.s32 %r7, %r6, %r5;
  st.shared.f32 [%r7], %f9;
  bar.sync 0;
  mov.u32 %r8, 0;
)";
  for (int i = 0; i < 8; ++i) {
    text += "  mov.f32 %f" + std::to_string(i) + ", 0f00000000;\n";
  }
  text += "LOOP:\n";
  for (int step = 0; step < 4; ++step) {
    text += "  ld.global.f32 %f10, [%rd6+" + std::to_string(512 * step) +
            "];\n  ld.shared.f32 %f11, [tile+" + std::to_string(4 * step) +
            "];\n";
    for (int i = 0; i < 8; ++i) {
      std::string f = "%f" + std::to_string(i);
      text += "  fma.rn.f32 " + f + ", %f10, %f11, " + f + ";\n";
    }
  }
  text += R"(  add.s32 %r8, %r8, 4;
  setp.lt.s32 %p1, %r8, %r1;
  @%p1 bra LOOP;
)";
  for (int i = 1; i < 8; ++i) {
    text += "  add.rn.f32 %f0, %f0, %f" + std::to_string(i) + ";\n";
  }
  return text + R"(  mul.wide.u32 %rd7, %r4, 4;
  add.s64 %rd8, %rd4, %rd7;
  st.global.f32 [%rd8], %f0;
  ret;
}
)";
}

static int fail(const Status &status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  unsigned threads = argc > 1 ? unsigned(std::atoi(argv[1])) : 1;
  auto memory = DeviceMemory::create(uint64_t(1) << 28);
  auto program = Program::parse(mixText());
  if (!memory || !program) {
    return fail(memory ? program.status() : memory.status());
  }
  auto instance = Instance::load(*program, **memory);
  auto a = (*memory)->allocate(4096, "a");
  const uint32_t blocks = 64;
  auto b = (*memory)->allocate(blocks * 512, "b");
  if (!instance || !a || !b) {
    return fail(instance ? (a ? b.status() : a.status()) : instance.status());
  }
  std::vector<float> values(1024, 1.0f);
  if (Status status = (*memory)->write(*a, values.data(), 4096); !status) {
    return fail(status);
  }
  struct {
    uint64_t a;
    uint64_t b;
    uint32_t n;
  } parameters = {*a, *b, 4000};
  LaunchShape shape;
  shape.grid.x = blocks;
  shape.block.x = 128;
  const struct {
    const char *name;
    bool checks;
    bool counters;
  } modes[] = {{"bare", false, false},
               {"counters", false, true},
               {"checks", true, false},
               {"checks and counters", true, true}};
  for (const auto &mode : modes) {
    ExecuteOptions options;
    options.threads = threads;
    options.checks = mode.checks;
    options.countMemory = mode.counters;
    double best = 0;
    for (int round = 0; round < 3; ++round) {
      Counters counters;
      auto begin = std::chrono::steady_clock::now();
      Status status =
          execute(**instance, *(*program)->find("mix"), shape, &parameters,
                  sizeof(parameters), **memory, options, counters);
      std::chrono::duration<double> seconds =
          std::chrono::steady_clock::now() - begin;
      if (!status) {
        return fail(status);
      }
      double rate = double(counters.totalLaneInstructions()) / seconds.count();
      best = rate > best ? rate : best;
    }
    std::printf("%-20s %8.0f million lane-instructions/s\n", mode.name,
                best * 1e-6);
  }
  return 0;
}
