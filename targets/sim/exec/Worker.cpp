//===- Worker.cpp - one host thread of a launch -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Worker.h"

#include "targets/sim/exec/Barrier.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace tilewright::sim;

/// Paths that may wait at one time: 32 lanes part at most 31 times, and each
/// time one entry more says where they meet.
constexpr uint32_t pathsPerWarp = 2 * lanesPerWarp + 2;

BlockRunner::Bytes BlockRunner::allocate(uint64_t bytes) {
  uint64_t rounded = (bytes + 127) / 64 * 64;
  void *place = std::aligned_alloc(64, rounded);
  if (!place) {
    throw std::bad_alloc();
  }
  std::memset(place, 0, rounded);
  return Bytes(static_cast<uint8_t *>(place));
}

BlockRunner::BlockRunner(Launch &launch) : launch(launch), code(*launch.code) {
  const Dim3 &shape = launch.shape.block;
  block.threads = uint32_t(shape.count());
  block.warps = (block.threads + lanesPerWarp - 1) / lanesPerWarp;
  block.sharedBytes = code.staticSharedBytes + launch.shape.sharedBytes;
  // An odd number of cache lines keeps warps out of each other's sets.
  frameStride = (code.frameBytes + 63) / 64 * 64 + 64;
  localStride = uint64_t(code.localBytes) * lanesPerWarp;
  frames = allocate(frameStride * block.warps);
  local = allocate(localStride * block.warps);
  // Accesses of 16 bytes may begin at the last byte of what is checked.
  shared = allocate(block.sharedBytes + 16);
  if (launch.checks) {
    localShadow = allocate(localStride * block.warps);
    sharedShadow = allocate(block.sharedBytes + 16);
    sharedCells = allocate((uint64_t(block.sharedBytes) + 16) * 4);
  }
  block.shared = shared.get();
  block.sharedShadow = sharedShadow.get();
  block.sharedCells = reinterpret_cast<uint32_t *>(sharedCells.get());
  block.sharedCellCount = launch.checks ? block.sharedBytes : 0;
  ranges.resize(code.instructions.size());
  blockLanes.resize(code.blocks.size());
  blockWarps.resize(code.blocks.size());
  worker.launch = &launch;
  worker.ranges = ranges.data();
  worker.blockLanes = blockLanes.data();
  worker.blockWarps = blockWarps.data();
  warps.resize(block.warps);
  copies.resize(block.warps);
  stacks.resize(uint64_t(pathsPerWarp) * block.warps);
  for (uint32_t i = 0; i < block.warps; ++i) {
    Warp &warp = warps[i];
    warp.index = i;
    warp.frame = frames.get() + i * frameStride;
    warp.local = local.get() + i * localStride;
    warp.localShadow =
        localShadow ? localShadow.get() + i * localStride : nullptr;
    warp.stack = stacks.data() + uint64_t(i) * pathsPerWarp;
    warp.stackCapacity = pathsPerWarp;
    warp.copies = &copies[i];
    warp.block = &block;
    warp.worker = &worker;
    warp.launch = &launch;
    uint32_t threads = std::min(block.threads - i * lanesPerWarp, lanesPerWarp);
    warp.all =
        threads == lanesPerWarp ? ~uint32_t(0) : (uint32_t(1) << threads) - 1;
    fillConstants(warp);
    fillThreadRegisters(warp);
  }
}

void BlockRunner::fillConstants(const Warp &warp) const {
  for (const FrameConstant &constant : code.constants) {
    uint64_t bits = constant.bits;
    if (constant.variable != noOperand) {
      bits += launch.instance->addressOf(constant.variable);
    }
    if (constant.bytes == 0) {
      warp.predicate(constant.offset) = uint32_t(bits);
      continue;
    }
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      std::memcpy(warp.frame + constant.offset + lane * constant.bytes, &bits,
                  constant.bytes);
    }
  }
}

void BlockRunner::fillThreadRegisters(const Warp &warp) const {
  const Dim3 &shape = launch.shape.block;
  const Dim3 &grid = launch.shape.grid;
  for (const FrameSpecial &special : code.specials) {
    uint32_t *to = warp.at<uint32_t>(special.offset);
    for (uint32_t lane = 0; lane < lanesPerWarp; ++lane) {
      uint32_t thread = warp.index * lanesPerWarp + lane;
      uint32_t bit = uint32_t(1) << lane;
      uint32_t value = 0;
      switch (special.special) {
      case Special::TidX:
        value = thread % shape.x;
        break;
      case Special::TidY:
        value = thread / shape.x % shape.y;
        break;
      case Special::TidZ:
        value = thread / shape.x / shape.y;
        break;
      case Special::NtidX:
        value = shape.x;
        break;
      case Special::NtidY:
        value = shape.y;
        break;
      case Special::NtidZ:
        value = shape.z;
        break;
      case Special::NctaidX:
        value = grid.x;
        break;
      case Special::NctaidY:
        value = grid.y;
        break;
      case Special::NctaidZ:
        value = grid.z;
        break;
      case Special::LaneId:
        value = lane;
        break;
      case Special::WarpId:
        value = warp.index;
        break;
      case Special::NwarpId:
        value = block.warps;
        break;
      case Special::LanemaskEq:
        value = bit;
        break;
      case Special::LanemaskLe:
        value = bit | (bit - 1);
        break;
      case Special::LanemaskLt:
        value = bit - 1;
        break;
      case Special::LanemaskGe:
        value = ~(bit - 1);
        break;
      case Special::LanemaskGt:
        value = ~(bit | (bit - 1));
        break;
      case Special::NsmId:
        value = 1;
        break;
      case Special::DynamicShared:
        value = launch.shape.sharedBytes;
        break;
      case Special::TotalShared:
        value = block.sharedBytes;
        break;
      case Special::SmId:
      case Special::GridId:
      case Special::CtaidX:
      case Special::CtaidY:
      case Special::CtaidZ:
        break;
      }
      to[lane] = value;
    }
  }
}

void BlockRunner::fillBlockRegisters(const Warp &warp) const {
  for (const FrameSpecial &special : code.specials) {
    if (special.special >= Special::CtaidX &&
        special.special <= Special::CtaidZ) {
      unsigned axis = unsigned(special.special) - unsigned(Special::CtaidX);
      uint32_t *to = warp.at<uint32_t>(special.offset);
      std::fill(to, to + lanesPerWarp, block.id[axis]);
    }
  }
}

void BlockRunner::prepare(uint64_t linear) {
  const Dim3 &grid = launch.shape.grid;
  block.linear = linear;
  block.id[0] = uint32_t(linear % grid.x);
  block.id[1] = uint32_t(linear / grid.x % grid.y);
  block.id[2] = uint32_t(linear / grid.x / grid.y);
  block.liveThreads = block.threads;
  block.hasFenced = false;
  for (BarrierState &barrier : block.barriers) {
    barrier = {};
  }
  if (launch.checks) {
    std::memset(sharedShadow.get(), 0, block.sharedBytes);
    std::memset(localShadow.get(), 0, localStride * block.warps);
    beginSharedEpoch(block);
  }
  worker.budget = launch.budgetPerBlock;
  for (Warp &warp : warps) {
    warp.next = code.instructions.data();
    warp.live = warp.active = warp.exec = warp.all;
    warp.state = WarpState::Ready;
    warp.join = nullptr;
    warp.stackDepth = 0;
    warp.synchronized = false;
    warp.carry = 0;
    warp.waiting = nullptr;
    warp.copies->pending.clear();
    std::fill(std::begin(warp.copies->committed),
              std::end(warp.copies->committed), 0);
    fillBlockRegisters(warp);
  }
}

static void runWarp(Warp &warp) {
  warp.running = true;
  while (warp.running) {
    const Inst &inst = *warp.next++;
    inst.run(warp, inst);
  }
}

void BlockRunner::runWarps() {
  while (!launch.stop.load(std::memory_order_relaxed)) {
    bool allDone = true;
    for (Warp &warp : warps) {
      if (warp.state == WarpState::Ready) {
        runWarp(warp);
        if (launch.stop.load(std::memory_order_relaxed)) {
          return;
        }
      }
      allDone &= warp.state == WarpState::Done;
    }
    if (allDone) {
      return;
    }
    if (!releaseBarriers(block, warps.data()) &&
        !launch.stop.load(std::memory_order_relaxed) &&
        !resolveStuckBarriers(block, warps.data())) {
      return;
    }
  }
}

void BlockRunner::run(uint64_t linear) {
  prepare(linear);
  runWarps();
  ++worker.counters.blocks;
}

void BlockRunner::addTo(Counters &counters) const {
  Counters sum = worker.counters;
  for (size_t i = 0; i < code.blocks.size(); ++i) {
    const Code::BlockMix &mix = code.blocks[i];
    sum.warpInstructions += blockWarps[i] * mix.total;
    for (size_t cls = 0; cls < numInstructionClasses; ++cls) {
      sum.laneInstructions[cls] += blockLanes[i] * mix.classes[cls];
    }
  }
  // Lanes that a guard kept away, as far as their blocks were executed.
  for (size_t cls = 0; cls < numInstructionClasses; ++cls) {
    sum.laneInstructions[cls] -=
        std::min(sum.laneInstructions[cls], worker.guardedOff[cls]);
  }
  counters += sum;
}
