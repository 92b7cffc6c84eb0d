//===- Allocate.cpp - places of registers in the frame ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A compiler's PTX has a register for every value. Those that are never live
// at the same time share a place, so that a warp's frame stays in the host's
// first cache. Liveness is that of one thread: each lane has its own part of
// a place, so lanes on different paths do not disturb each other.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Draft.h"

#include <algorithm>
#include <functional>
#include <queue>

using namespace tilewright::sim;

/// Calls `visit(register, isWrite)` for each register of a draft.
template <typename Visit>
static void visitRegisters(const Draft &draft, Visit visit) {
  const Inst &inst = draft.inst;
  bool isPartial = inst.guard != noOperand && draft.flow != Draft::Branch;
  auto write = [&](uint32_t reg) {
    // Under a guard the old value lives on.
    if (isPartial) {
      visit(reg, false);
    }
    visit(reg, true);
  };
  for (size_t i = draft.wideWrites; i < draft.wide.size(); ++i) {
    visit(draft.wide[i], false);
  }
  const uint32_t fields[4] = {inst.d, inst.a, inst.b, inst.c};
  for (unsigned i = 1; i < 4; ++i) {
    if (draft.registers >> i & 1) {
      visit(fields[i], false);
    }
  }
  if (inst.guard != noOperand) {
    visit(inst.guard, false);
  }
  for (size_t i = 0; i < draft.wideWrites; ++i) {
    write(draft.wide[i]);
  }
  if (draft.registers & 1) {
    write(inst.d);
  }
}

namespace {
/// Where a register is live: from the write or read at `begin` to `end`, in
/// half-steps (reads come before writes).
struct Interval {
  uint32_t begin = ~uint32_t(0);
  uint32_t end = 0;
  uint32_t reg = 0;
  void cover(uint32_t position) {
    begin = std::min(begin, position);
    end = std::max(end, position);
  }
};
using Bits = std::vector<uint64_t>;
} // namespace

static bool test(const Bits &bits, uint32_t i) {
  return bits[i / 64] >> (i % 64) & 1;
}
static void set(Bits &bits, uint32_t i) {
  bits[i / 64] |= uint64_t(1) << (i % 64);
}

/// Extends intervals over the blocks that registers are live in or through.
/// `numbers` has a dense number for registers that more than one block uses.
static void coverBlocks(const DraftCode &draft,
                        const std::vector<BasicBlock> &blocks,
                        const std::vector<uint32_t> &numbers,
                        const std::vector<uint32_t> &shared,
                        std::vector<Interval> &intervals) {
  size_t words = (shared.size() + 63) / 64;
  std::vector<Bits> uses(blocks.size(), Bits(words));
  std::vector<Bits> writes(blocks.size(), Bits(words));
  std::vector<Bits> liveIn(blocks.size(), Bits(words));
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (uint32_t at = blocks[i].begin; at < blocks[i].end; ++at) {
      visitRegisters(draft.drafts[at], [&](uint32_t reg, bool isWrite) {
        uint32_t number = numbers[reg];
        if (number == noOperand) {
          return;
        }
        if (isWrite) {
          set(writes[i], number);
        } else if (!test(writes[i], number)) {
          set(uses[i], number);
        }
      });
    }
    liveIn[i] = uses[i];
  }
  std::vector<Bits> liveOut(blocks.size(), Bits(words));
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = blocks.size(); i-- > 0;) {
      for (uint32_t successor : blocks[i].successors) {
        for (size_t w = 0; w < words; ++w) {
          liveOut[i][w] |= liveIn[successor][w];
        }
      }
      for (size_t w = 0; w < words; ++w) {
        uint64_t in = uses[i][w] | (liveOut[i][w] & ~writes[i][w]);
        changed |= in != liveIn[i][w];
        liveIn[i][w] = in;
      }
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (uint32_t n = 0; n < shared.size(); ++n) {
      if (test(liveIn[i], n)) {
        intervals[shared[n]].cover(2 * blocks[i].begin);
      }
      if (test(liveOut[i], n)) {
        intervals[shared[n]].cover(2 * blocks[i].end);
      }
    }
  }
}

static std::vector<Interval>
findIntervals(const DraftCode &draft, const std::vector<BasicBlock> &blocks) {
  size_t count = draft.registers.size();
  std::vector<Interval> intervals(count);
  std::vector<uint32_t> firstBlock(count, noOperand);
  std::vector<uint32_t> numbers(count, noOperand);
  std::vector<uint32_t> shared;
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    for (uint32_t at = blocks[i].begin; at < blocks[i].end; ++at) {
      const Draft &one = draft.drafts[at];
      // Only lane-by-lane operations may write where they read.
      unsigned half = one.wide.empty() ? 1 : 0;
      bool isFirst = true;
      visitRegisters(one, [&](uint32_t reg, bool isWrite) {
        if (draft.registers[reg].kind != VirtualRegister::Ordinary) {
          return;
        }
        intervals[reg].cover(2 * at + (isWrite ? half : 0));
        if (firstBlock[reg] == noOperand) {
          firstBlock[reg] = i;
          // A read without a write before it may be of the last iteration.
          isFirst = !isWrite;
        } else {
          isFirst = firstBlock[reg] != i;
        }
        if (isFirst && numbers[reg] == noOperand) {
          numbers[reg] = uint32_t(shared.size());
          shared.push_back(reg);
        }
      });
    }
  }
  uint64_t work = uint64_t(shared.size()) * blocks.size();
  if (work < uint64_t(1) << 33) {
    coverBlocks(draft, blocks, numbers, shared, intervals);
  } else {
    for (uint32_t reg : shared) {
      intervals[reg].cover(0);
      intervals[reg].cover(uint32_t(2 * draft.drafts.size()));
    }
  }
  return intervals;
}

static unsigned classOf(unsigned bytes) {
  return bytes == 8 ? 0 : bytes == 4 ? 1 : bytes == 2 ? 2 : 3;
}

std::vector<uint32_t>
tilewright::sim::allocateFrame(const DraftCode &draft,
                               const std::vector<BasicBlock> &blocks,
                               uint32_t &frameBytes) {
  constexpr uint32_t classBytes[4] = {8 * lanesPerWarp, 4 * lanesPerWarp,
                                      2 * lanesPerWarp, 4};
  std::vector<Interval> intervals = findIntervals(draft, blocks);
  std::vector<uint32_t> order;
  std::vector<uint32_t> place(draft.registers.size(), 0);
  uint32_t counts[4] = {};
  for (uint32_t reg = 0; reg < intervals.size(); ++reg) {
    intervals[reg].reg = reg;
    const VirtualRegister &info = draft.registers[reg];
    if (info.kind != VirtualRegister::Ordinary) {
      place[reg] = counts[classOf(info.bytes)]++;
    } else if (intervals[reg].begin <= intervals[reg].end) {
      order.push_back(reg);
    }
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return intervals[a].begin != intervals[b].begin
               ? intervals[a].begin < intervals[b].begin
               : a < b;
  });
  using Entry = std::pair<uint32_t, uint32_t>; // end, place
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> busy[4];
  for (uint32_t reg : order) {
    unsigned cls = classOf(draft.registers[reg].bytes);
    if (!busy[cls].empty() && busy[cls].top().first < intervals[reg].begin) {
      place[reg] = busy[cls].top().second;
      busy[cls].pop();
    } else {
      place[reg] = counts[cls]++;
    }
    busy[cls].push({intervals[reg].end, place[reg]});
  }
  uint32_t bases[4];
  uint64_t total = 0;
  for (unsigned cls = 0; cls < 4; ++cls) {
    bases[cls] = uint32_t(total);
    total += uint64_t(counts[cls]) * classBytes[cls];
  }
  frameBytes = uint32_t((total + 63) / 64 * 64);
  std::vector<uint32_t> offsets(place.size());
  for (uint32_t reg = 0; reg < place.size(); ++reg) {
    unsigned cls = classOf(draft.registers[reg].bytes);
    offsets[reg] = bases[cls] + place[reg] * classBytes[cls];
  }
  return offsets;
}
