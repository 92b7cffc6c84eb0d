//===- Barrier.cpp - barriers of a block --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Barrier.h"

#include "targets/sim/exec/Handlers.h"

#include <algorithm>

using namespace tilewright::sim;

constexpr uint32_t numBarriers = 16;

/// Finds the barrier and how many threads it waits for; null after a fault.
static BarrierState *findBarrier(Warp &warp, const Inst &inst) {
  unsigned lane = unsigned(__builtin_ctz(warp.exec));
  uint32_t number = warp.at<uint32_t>(inst.a)[lane];
  uint32_t threads = inst.b == noOperand ? 0 : warp.at<uint32_t>(inst.b)[lane];
  if (number >= numBarriers || threads % lanesPerWarp != 0 ||
      (inst.b != noOperand && threads == 0)) {
    raise(warp, inst, FaultKind::Trap, lane, 0, 0, nullptr,
          "a barrier is 0 to 15, and its threads a multiple of 32");
    return nullptr;
  }
  if (warp.exec != warp.live) {
    uint32_t elsewhere = warp.live & ~warp.exec;
    raise(warp, inst, FaultKind::DivergentBarrier,
          unsigned(__builtin_ctz(elsewhere)), 0, 0, nullptr,
          "other threads of the warp wait at the barrier, this one is "
          "elsewhere");
    return nullptr;
  }
  warp.barrier = number;
  BarrierState &barrier = warp.block->barriers[number];
  if (barrier.arrived != 0 && barrier.expected != threads) {
    raise(warp, inst, FaultKind::BarrierDeadlock, lane, 0, 0, nullptr,
          "warps disagree about how many threads the barrier has");
    return nullptr;
  }
  barrier.expected = threads;
  barrier.arrived += lanesPerWarp;
  return &barrier;
}

static void wait(Warp &warp, const Inst &inst) {
  warp.state = WarpState::AtBarrier;
  warp.running = false;
  warp.waiting = &inst;
}

void exec::barrierSync(Warp &warp, const Inst &inst) {
  if (findBarrier(warp, inst)) {
    wait(warp, inst);
  }
}

void exec::barrierArrive(Warp &warp, const Inst &inst) {
  findBarrier(warp, inst);
}

void exec::barrierReduce(Warp &warp, const Inst &inst) {
  if (BarrierState *barrier = findBarrier(warp, inst)) {
    barrier->trueCount +=
        unsigned(__builtin_popcount(warp.predicate(inst.c) & warp.exec));
    barrier->takingPart += unsigned(__builtin_popcount(warp.exec));
    wait(warp, inst);
  }
}

/// Gives a warp that waited for a reduction its result.
static void putResult(Warp &warp, const BarrierState &barrier) {
  const Inst &inst = *warp.waiting;
  if (inst.run != exec::barrierReduce && inst.inner != exec::barrierReduce) {
    return;
  }
  if (inst.mode == 0) {
    for (unsigned i = 0; i < lanesPerWarp; ++i) {
      if (warp.active >> i & 1) {
        warp.at<uint32_t>(inst.d)[i] = barrier.trueCount;
      }
    }
    return;
  }
  bool answer = inst.mode == 1 ? barrier.trueCount == barrier.takingPart
                               : barrier.trueCount != 0;
  uint32_t &p = warp.predicate(inst.d);
  p = answer ? p | warp.active : p & ~warp.active;
}

static void release(Block &block, Warp *warps, uint32_t number) {
  BarrierState &barrier = block.barriers[number];
  for (uint32_t i = 0; i < block.warps; ++i) {
    Warp &warp = warps[i];
    if (warp.state == WarpState::AtBarrier && warp.barrier == number) {
      putResult(warp, barrier);
      warp.state = WarpState::Ready;
      warp.waiting = nullptr;
    }
    warp.synchronized = false;
  }
  barrier = {};
  ++warps[0].worker->counters.barriers;
  // A barrier of some warps orders them only; to be sure not to report what
  // is no race, it counts as one of the block.
  beginSharedEpoch(block);
}

void tilewright::sim::beginSharedEpoch(Block &block) {
  block.sharedEpoch = (block.sharedEpoch + 1) & 1023;
  if (block.sharedEpoch == 0) {
    // Numbers begin again, so nothing may remember old ones.
    std::fill_n(block.sharedCells, block.sharedCellCount, 0);
    block.sharedEpoch = 1;
  }
}

bool tilewright::sim::releaseBarriers(Block &block, Warp *warps) {
  bool released = false;
  for (uint32_t number = 0; number < numBarriers; ++number) {
    BarrierState &barrier = block.barriers[number];
    uint32_t expected =
        barrier.expected ? barrier.expected : block.warps * lanesPerWarp;
    if (barrier.arrived != 0 && barrier.arrived >= expected) {
      // Threads that left count as arrived on a GPU, but nobody may rely on it.
      for (uint32_t i = 0; i < block.warps; ++i) {
        Warp &warp = warps[i];
        uint32_t gone = warp.all & ~warp.live;
        if (warp.launch->checks && warp.state == WarpState::AtBarrier &&
            warp.barrier == number && gone != 0) {
          raise(warp, *warp.waiting, FaultKind::DivergentBarrier,
                unsigned(__builtin_ctz(gone)), 0, 0, nullptr,
                "the thread has left the kernel, others wait for it");
          return false;
        }
      }
      release(block, warps, number);
      released = true;
    }
  }
  return released;
}

bool tilewright::sim::resolveStuckBarriers(Block &block, Warp *warps) {
  Warp *first = nullptr;
  Warp *gone = nullptr;
  bool together = true;
  for (uint32_t i = 0; i < block.warps; ++i) {
    Warp &warp = warps[i];
    if (warp.state == WarpState::AtBarrier) {
      first = first ? first : &warp;
      together &= warp.barrier == first->barrier;
    } else if (warp.state == WarpState::Done) {
      gone = &warp;
    }
  }
  bool forAll = block.barriers[first->barrier].expected == 0;
  if (together && gone && forAll) {
    if (!first->launch->checks) {
      release(block, warps, first->barrier);
      return true;
    }
    raise(*gone, *first->waiting, FaultKind::DivergentBarrier, 0, 0, 0, nullptr,
          "the thread has left the kernel, others wait for it");
    return false;
  }
  raise(*first, *first->waiting, FaultKind::BarrierDeadlock,
        unsigned(__builtin_ctz(first->live)), 0, 0, nullptr,
        "no warp of the block can go on");
  return false;
}
