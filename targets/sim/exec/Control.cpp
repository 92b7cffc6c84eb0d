//===- Control.cpp - branches and where paths meet ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A warp runs one path at a time; other paths wait on a stack. At a branch
// that divides the lanes, an entry for where they meet again goes below those
// of the two ways. A path that arrives there gives way to the next entry, and
// the last one runs on with all lanes together.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Handlers.h"
#include "targets/sim/exec/Machine.h"

using namespace tilewright::sim;

/// Runs the next waiting path, or ends the warp.
static void resume(Warp &warp) {
  while (warp.stackDepth > 0) {
    const PathEntry &entry = warp.stack[--warp.stackDepth];
    uint32_t mask = entry.mask & warp.live;
    if (mask != 0) {
      warp.active = warp.exec = mask;
      warp.next = entry.next;
      warp.join = entry.join;
      return;
    }
  }
  warp.active = warp.exec = 0;
  warp.running = false;
  warp.state = WarpState::Done;
}

static bool push(Warp &warp, const Inst &inst, const Inst *next, uint32_t mask,
                 const Inst *join) {
  if (warp.stackDepth == warp.stackCapacity) {
    raise(warp, inst, FaultKind::InstructionLimit,
          unsigned(__builtin_ctz(mask)), 0, 0, nullptr,
          "too many paths wait for each other");
    return false;
  }
  warp.stack[warp.stackDepth++] = {next, join, mask};
  return true;
}

static const Inst *instruction(const Warp &warp, uint32_t index) {
  return index == noOperand ? nullptr
                            : warp.launch->code->instructions.data() + index;
}

/// Each basic block begins with this: counts, and ends paths.
void exec::enterBlock(Warp &warp, const Inst &inst) {
  if (warp.join == &inst) {
    resume(warp);
    return;
  }
  Worker &worker = *warp.worker;
  worker.blockLanes[inst.imm] += unsigned(__builtin_popcount(warp.active));
  ++worker.blockWarps[inst.imm];
  worker.clock += inst.a;
  worker.budget -= inst.a;
  if (worker.budget < 0) {
    raise(warp, inst, FaultKind::InstructionLimit,
          unsigned(__builtin_ctz(warp.active)), 0, 0, nullptr,
          "the block has executed as many instructions as it may");
  } else if (warp.launch->stop.load(std::memory_order_relaxed)) {
    warp.running = false;
  }
}

void exec::guarded(Warp &warp, const Inst &inst) {
  uint32_t mask = warp.predicate(inst.guard);
  uint32_t taken = warp.active & (inst.guardNegated ? ~mask : mask);
  warp.worker->guardedOff[unsigned(inst.cls)] +=
      unsigned(__builtin_popcount(warp.active & ~taken));
  if (taken == 0) {
    return;
  }
  warp.exec = taken;
  inst.inner(warp, inst);
  warp.exec = warp.active;
}

void exec::branch(Warp &warp, const Inst &inst) {
  warp.next = instruction(warp, inst.d);
}

void exec::branchGuarded(Warp &warp, const Inst &inst) {
  uint32_t mask = warp.predicate(inst.guard);
  uint32_t taken = warp.active & (inst.guardNegated ? ~mask : mask);
  const Inst *target = instruction(warp, inst.d);
  if (taken == warp.active) {
    warp.next = target;
    return;
  }
  if (taken == 0) {
    return;
  }
  const Inst *meet = instruction(warp, inst.a);
  const Inst *other = warp.next;
  uint32_t rest = warp.active & ~taken;
  // The outer paths' meeting point serves when it is the same.
  if (meet != warp.join && !push(warp, inst, meet, warp.active, warp.join)) {
    return;
  }
  if (other == meet) {
    warp.next = target;
    warp.active = warp.exec = taken;
  } else if (target == meet) {
    warp.active = warp.exec = rest;
  } else {
    if (!push(warp, inst, other, rest, meet)) {
      return;
    }
    warp.next = target;
    warp.active = warp.exec = taken;
  }
  warp.join = meet;
}

void exec::branchIndexed(Warp &warp, const Inst &inst) {
  const uint32_t *index = warp.at<uint32_t>(inst.b);
  const uint32_t *targets = warp.launch->code->wide.data() + inst.wide;
  uint64_t count = uint64_t(inst.imm);
  const Inst *meet = instruction(warp, inst.a);
  uint32_t rest = warp.active;
  for (uint32_t left = rest; left != 0; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    if (index[lane] >= count) {
      raise(warp, inst, FaultKind::Trap, lane, 0, 0, nullptr,
            "the index of a branch is beyond its list");
      return;
    }
  }
  uint32_t first = targets[index[__builtin_ctz(rest)]];
  bool isUniform = true;
  for (uint32_t left = rest; left != 0; left &= left - 1) {
    isUniform &= targets[index[__builtin_ctz(left)]] == first;
  }
  if (isUniform) {
    warp.next = instruction(warp, first);
    return;
  }
  if (meet != warp.join && !push(warp, inst, meet, rest, warp.join)) {
    return;
  }
  while (rest != 0) {
    uint32_t target = targets[index[__builtin_ctz(rest)]];
    uint32_t mask = 0;
    for (uint32_t left = rest; left != 0; left &= left - 1) {
      unsigned lane = unsigned(__builtin_ctz(left));
      mask |= uint32_t(targets[index[lane]] == target) << lane;
    }
    rest &= ~mask;
    if (instruction(warp, target) != meet &&
        !push(warp, inst, instruction(warp, target), mask, meet)) {
      return;
    }
  }
  resume(warp);
}

void exec::exitLanes(Warp &warp, const Inst &inst) {
  uint32_t leaving = warp.exec;
  warp.live &= ~leaving;
  warp.block->liveThreads -= unsigned(__builtin_popcount(leaving));
  warp.active &= ~leaving;
  warp.exec = warp.active;
  if (warp.active == 0) {
    resume(warp);
  }
}

void exec::trap(Warp &warp, const Inst &inst) {
  raise(warp, inst, FaultKind::Trap, unsigned(__builtin_ctz(warp.exec)));
}

void exec::nothing(Warp &, const Inst &) {}

void exec::readClock(Warp &warp, const Inst &inst) {
  uint64_t now = warp.worker->clock;
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if (warp.exec >> i & 1) {
      if (inst.mode == 8) {
        warp.at<uint64_t>(inst.d)[i] = now;
      } else {
        warp.at<uint32_t>(inst.d)[i] =
            uint32_t(inst.mode == 0 ? now >> 32 : now);
      }
    }
  }
}
