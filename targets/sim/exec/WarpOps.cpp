//===- WarpOps.cpp - exchanges between the lanes of a warp ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Handlers.h"
#include "targets/sim/exec/Machine.h"

#include <cstring>

using namespace tilewright::sim;

/// All lanes that the mask names and that still live must be here.
static bool checkMembers(Warp &warp, const Inst &inst, uint32_t maskOffset) {
  const uint32_t *masks = warp.at<uint32_t>(maskOffset);
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    if (!(masks[lane] >> lane & 1)) {
      raise(warp, inst, FaultKind::DivergentWarp, lane, 0, 0, nullptr,
            "the thread is not in its own mask of members");
      return false;
    }
    uint32_t missing = masks[lane] & warp.live & ~warp.exec;
    if (missing != 0 && warp.launch->checks) {
      raise(warp, inst, FaultKind::DivergentWarp,
            unsigned(__builtin_ctz(missing)), 0, 0, nullptr,
            "the mask of members names the thread, which is elsewhere");
      return false;
    }
  }
  return true;
}

static void putPredicate(Warp &warp, uint32_t offset, uint32_t value) {
  uint32_t &p = warp.predicate(offset);
  p = (p & ~warp.exec) | (value & warp.exec);
}

template <typename T>
static void putLanes(Warp &warp, uint32_t offset, const T *values) {
  T *to = warp.at<T>(offset);
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    to[lane] = values[lane];
  }
}

/// d = a of the lane that b says; c clamps it to a segment of the warp.
void exec::shuffle(Warp &warp, const Inst &inst) {
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  if (!checkMembers(warp, inst, wide[1])) {
    return;
  }
  const uint32_t *a = warp.at<uint32_t>(inst.a);
  const uint32_t *b = warp.at<uint32_t>(inst.b);
  const uint32_t *c = warp.at<uint32_t>(inst.c);
  uint32_t result[lanesPerWarp];
  uint32_t inRange = 0;
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    int distance = int(b[lane] & 31);
    int clamp = int(c[lane] & 31);
    int segment = int(c[lane] >> 8 & 31);
    int highest = (int(lane) & segment) | (clamp & ~segment);
    int lowest = int(lane) & segment;
    int from = 0;
    bool valid = false;
    switch (ShuffleMode(inst.mode)) {
    case ShuffleMode::Up:
      from = int(lane) - distance;
      valid = from >= highest;
      break;
    case ShuffleMode::Down:
      from = int(lane) + distance;
      valid = from <= highest;
      break;
    case ShuffleMode::Bfly:
      from = int(lane) ^ distance;
      valid = from <= highest;
      break;
    case ShuffleMode::Idx:
      from = lowest | (distance & ~segment);
      valid = from <= highest;
      break;
    }
    from = valid ? from : int(lane);
    inRange |= uint32_t(valid) << lane;
    result[lane] = a[from & 31];
  }
  putLanes(warp, inst.d, result);
  putPredicate(warp, wide[0], inRange);
}

void exec::vote(Warp &warp, const Inst &inst) {
  if (!checkMembers(warp, inst, inst.b)) {
    return;
  }
  uint32_t p = warp.predicate(inst.a);
  const uint32_t *masks = warp.at<uint32_t>(inst.b);
  uint32_t ballots[lanesPerWarp];
  uint32_t answers = 0;
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    uint32_t members = masks[lane] & warp.exec;
    uint32_t votes = p & members;
    ballots[lane] = votes;
    bool answer = false;
    switch (VoteMode(inst.mode)) {
    case VoteMode::All:
      answer = votes == members;
      break;
    case VoteMode::Any:
      answer = votes != 0;
      break;
    case VoteMode::Uni:
      answer = votes == 0 || votes == members;
      break;
    case VoteMode::Ballot:
      break;
    }
    answers |= uint32_t(answer) << lane;
  }
  if (VoteMode(inst.mode) == VoteMode::Ballot) {
    putLanes(warp, inst.d, ballots);
  } else {
    putPredicate(warp, inst.d, answers);
  }
}

void exec::activeMask(Warp &warp, const Inst &inst) {
  uint32_t masks[lanesPerWarp];
  for (uint32_t &mask : masks) {
    mask = warp.exec;
  }
  putLanes(warp, inst.d, masks);
}

static uint64_t laneValue(const Warp &warp, const Inst &inst, unsigned lane) {
  return inst.size == 8 ? warp.at<uint64_t>(inst.a)[lane]
                        : warp.at<uint32_t>(inst.a)[lane];
}

void exec::matchAny(Warp &warp, const Inst &inst) {
  if (!checkMembers(warp, inst, inst.b)) {
    return;
  }
  const uint32_t *masks = warp.at<uint32_t>(inst.b);
  uint32_t result[lanesPerWarp];
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    uint32_t equal = 0;
    uint32_t members = masks[lane] & warp.exec;
    for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
      unsigned other = unsigned(__builtin_ctz(rest));
      equal |=
          uint32_t(laneValue(warp, inst, lane) == laneValue(warp, inst, other))
          << other;
    }
    result[lane] = equal;
  }
  putLanes(warp, inst.d, result);
}

void exec::matchAll(Warp &warp, const Inst &inst) {
  if (!checkMembers(warp, inst, inst.b)) {
    return;
  }
  const uint32_t *masks = warp.at<uint32_t>(inst.b);
  uint32_t result[lanesPerWarp];
  uint32_t answers = 0;
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    bool equal = true;
    uint32_t members = masks[lane] & warp.exec;
    for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
      equal &= laneValue(warp, inst, lane) ==
               laneValue(warp, inst, unsigned(__builtin_ctz(rest)));
    }
    result[lane] = equal ? masks[lane] : 0;
    answers |= uint32_t(equal) << lane;
  }
  putLanes(warp, inst.d, result);
  putPredicate(warp, warp.launch->code->wide[inst.wide], answers);
}

template <typename T> static T reduce(AtomicOp op, T a, T b) {
  switch (op) {
  case AtomicOp::Add:
    return T(uint32_t(a) + uint32_t(b));
  case AtomicOp::Min:
    return b < a ? b : a;
  case AtomicOp::Max:
    return a < b ? b : a;
  case AtomicOp::And:
    return a & b;
  case AtomicOp::Or:
    return a | b;
  default:
    return a ^ b;
  }
}

template <typename T> static void redux(Warp &warp, const Inst &inst) {
  if (!checkMembers(warp, inst, inst.b)) {
    return;
  }
  const T *a = warp.at<T>(inst.a);
  const uint32_t *masks = warp.at<uint32_t>(inst.b);
  T result[lanesPerWarp];
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    uint32_t members = masks[lane] & warp.exec;
    T sum = 0;
    for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
      T value = a[__builtin_ctz(rest)];
      sum = rest == members ? value : reduce(AtomicOp(inst.mode), sum, value);
    }
    result[lane] = sum;
  }
  putLanes(warp, inst.d, result);
}

void exec::reduxSigned(Warp &warp, const Inst &inst) {
  redux<int32_t>(warp, inst);
}
void exec::reduxUnsigned(Warp &warp, const Inst &inst) {
  redux<uint32_t>(warp, inst);
}

/// The lowest member leads.
void exec::electLane(Warp &warp, const Inst &inst) {
  if (!checkMembers(warp, inst, inst.b)) {
    return;
  }
  const uint32_t *masks = warp.at<uint32_t>(inst.b);
  uint32_t leaders[lanesPerWarp];
  uint32_t elected = 0;
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    uint32_t members = masks[lane] & warp.exec;
    leaders[lane] = members ? uint32_t(__builtin_ctz(members)) : 0;
    elected |= uint32_t(leaders[lane] == lane) << lane;
  }
  putLanes(warp, inst.d, leaders);
  putPredicate(warp, warp.launch->code->wide[inst.wide], elected);
}

void exec::warpSync(Warp &warp, const Inst &inst) {
  if (checkMembers(warp, inst, inst.b)) {
    warp.synchronized = true;
  }
}

void exec::fence(Warp &warp, const Inst &) { warp.block->hasFenced = true; }

template <Alu Op> static void predicate(Warp &warp, const Inst &inst) {
  uint32_t a = warp.predicate(inst.a);
  uint32_t b = inst.b == noOperand ? 0 : warp.predicate(inst.b);
  uint32_t result = Op == Alu::And   ? a & b
                    : Op == Alu::Or  ? a | b
                    : Op == Alu::Xor ? a ^ b
                    : Op == Alu::Not ? ~a
                                     : a;
  putPredicate(warp, inst.d, result);
}

Handler tilewright::sim::predicateHandler(Alu op) {
  switch (op) {
  case Alu::And:
    return predicate<Alu::And>;
  case Alu::Or:
    return predicate<Alu::Or>;
  case Alu::Xor:
    return predicate<Alu::Xor>;
  case Alu::Not:
    return predicate<Alu::Not>;
  case Alu::Mov:
    return predicate<Alu::Mov>;
  default:
    return nullptr;
  }
}

/// d's lanes are the parts' lanes side by side.
template <unsigned Parts, unsigned Bytes>
static void pack(Warp &warp, const Inst &inst) {
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  uint8_t result[lanesPerWarp * Parts * Bytes];
  for (unsigned k = 0; k < Parts; ++k) {
    const uint8_t *part = warp.at<uint8_t>(wide[k]);
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      std::memcpy(result + (lane * Parts + k) * Bytes, part + lane * Bytes,
                  Bytes);
    }
  }
  uint8_t *to = warp.at<uint8_t>(inst.d);
  if (warp.exec == ~uint32_t(0)) {
    std::memcpy(to, result, sizeof(result));
    return;
  }
  for (uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    unsigned at = unsigned(__builtin_ctz(rest)) * Parts * Bytes;
    std::memcpy(to + at, result + at, Parts * Bytes);
  }
}

template <unsigned Parts, unsigned Bytes>
static void unpack(Warp &warp, const Inst &inst) {
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  uint8_t whole[lanesPerWarp * Parts * Bytes];
  std::memcpy(whole, warp.at<uint8_t>(inst.a), sizeof(whole));
  for (unsigned k = 0; k < Parts; ++k) {
    uint8_t *part = warp.at<uint8_t>(wide[k]);
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      if (warp.exec >> lane & 1) {
        std::memcpy(part + lane * Bytes, whole + (lane * Parts + k) * Bytes,
                    Bytes);
      }
    }
  }
}

Handler tilewright::sim::packHandler(unsigned parts, unsigned partBytes) {
  return parts == 2 && partBytes == 2   ? pack<2, 2>
         : parts == 2 && partBytes == 4 ? pack<2, 4>
         : parts == 4 && partBytes == 2 ? pack<4, 2>
                                        : nullptr;
}

Handler tilewright::sim::unpackHandler(unsigned parts, unsigned partBytes) {
  return parts == 2 && partBytes == 2   ? unpack<2, 2>
         : parts == 2 && partBytes == 4 ? unpack<2, 4>
         : parts == 4 && partBytes == 2 ? unpack<4, 2>
                                        : nullptr;
}

void exec::isInSpace(Warp &warp, const Inst &inst) {
  const uint64_t *a = warp.at<uint64_t>(inst.a);
  uint32_t answers = 0;
  for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
    bool shared = a[lane] - sharedWindow < windowBytes;
    bool local = a[lane] - localWindow < windowBytes;
    bool is = false;
    switch (ptx::Space(inst.mode)) {
    case ptx::Space::Shared:
      is = shared;
      break;
    case ptx::Space::Local:
      is = local;
      break;
    case ptx::Space::Global:
      is = !shared && !local;
      break;
    default:
      break;
    }
    answers |= uint32_t(is) << lane;
  }
  putPredicate(warp, inst.d, answers);
}
