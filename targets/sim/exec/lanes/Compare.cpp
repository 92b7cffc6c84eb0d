//===- Compare.cpp - comparisons, lane by lane --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/lanes/Level.h"
#include "targets/sim/exec/lanes/Numbers.h"

using namespace tilewright::sim;
using namespace tilewright::sim::TW_SIM_LEVEL;
using ptx::Type;

namespace {

template <typename T> T value(T x) { return x; }
float value(Half x) { return toFloat(x); }
float value(Bfloat x) { return toFloat(x); }

template <Compare Op, typename T> bool holds(T a, T b) {
  bool unordered = a != a || b != b;
  switch (Op) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return a != b && !unordered;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  case Compare::Equ:
    return a == b || unordered;
  case Compare::Neu:
    return a != b || unordered;
  case Compare::Ltu:
    return a < b || unordered;
  case Compare::Leu:
    return a <= b || unordered;
  case Compare::Gtu:
    return a > b || unordered;
  case Compare::Geu:
    return a >= b || unordered;
  case Compare::Num:
    return !unordered;
  case Compare::Nan:
    return unordered;
  }
  return false;
}

uint32_t combined(const Warp &warp, const Inst &inst, uint32_t result) {
  switch (BoolOp(inst.mode)) {
  case BoolOp::And:
    return result & warp.predicate(inst.c);
  case BoolOp::Or:
    return result | warp.predicate(inst.c);
  case BoolOp::Xor:
    return result ^ warp.predicate(inst.c);
  case BoolOp::None:
    break;
  }
  return result;
}

void put(Warp &warp, uint32_t to, uint32_t result) {
  uint32_t &p = warp.predicate(to);
  p = (p & ~warp.exec) | (result & warp.exec);
}

template <Compare Op, typename T> void compare(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  const T *b = warp.at<T>(inst.b);
  uint32_t result = 0;
  TW_LANES
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    result |= uint32_t(holds<Op>(value(a[i]), value(b[i]))) << i;
  }
  uint32_t p = combined(warp, inst, result);
  if (inst.wideCount != 0) {
    uint32_t q = combined(warp, inst, ~result);
    put(warp, warp.launch->code->wide[inst.wide], q);
  }
  put(warp, inst.d, p);
}

/// Two numbers per lane: p is for the lower, q for the upper ones.
template <Compare Op, typename T>
void compareTwo(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  const T *b = warp.at<T>(inst.b);
  uint32_t low = 0;
  uint32_t high = 0;
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    low |= uint32_t(holds<Op>(value(a[2 * i]), value(b[2 * i]))) << i;
    high |= uint32_t(holds<Op>(value(a[2 * i + 1]), value(b[2 * i + 1]))) << i;
  }
  uint32_t p = combined(warp, inst, low);
  uint32_t q = combined(warp, inst, high);
  put(warp, warp.launch->code->wide[inst.wide], q);
  put(warp, inst.d, p);
}

template <typename T> Handler ordered(Compare op) {
  switch (op) {
  case Compare::Eq:
    return compare<Compare::Eq, T>;
  case Compare::Ne:
    return compare<Compare::Ne, T>;
  case Compare::Lt:
    return compare<Compare::Lt, T>;
  case Compare::Le:
    return compare<Compare::Le, T>;
  case Compare::Gt:
    return compare<Compare::Gt, T>;
  case Compare::Ge:
    return compare<Compare::Ge, T>;
  default:
    return nullptr;
  }
}

template <typename T> Handler floating(Compare op) {
  switch (op) {
  case Compare::Equ:
    return compare<Compare::Equ, T>;
  case Compare::Neu:
    return compare<Compare::Neu, T>;
  case Compare::Ltu:
    return compare<Compare::Ltu, T>;
  case Compare::Leu:
    return compare<Compare::Leu, T>;
  case Compare::Gtu:
    return compare<Compare::Gtu, T>;
  case Compare::Geu:
    return compare<Compare::Geu, T>;
  case Compare::Num:
    return compare<Compare::Num, T>;
  case Compare::Nan:
    return compare<Compare::Nan, T>;
  default:
    return ordered<T>(op);
  }
}

template <typename T> Handler two(Compare op) {
  switch (op) {
  case Compare::Eq:
    return compareTwo<Compare::Eq, T>;
  case Compare::Ne:
    return compareTwo<Compare::Ne, T>;
  case Compare::Lt:
    return compareTwo<Compare::Lt, T>;
  case Compare::Le:
    return compareTwo<Compare::Le, T>;
  case Compare::Gt:
    return compareTwo<Compare::Gt, T>;
  case Compare::Ge:
    return compareTwo<Compare::Ge, T>;
  case Compare::Equ:
    return compareTwo<Compare::Equ, T>;
  case Compare::Neu:
    return compareTwo<Compare::Neu, T>;
  case Compare::Ltu:
    return compareTwo<Compare::Ltu, T>;
  case Compare::Leu:
    return compareTwo<Compare::Leu, T>;
  case Compare::Gtu:
    return compareTwo<Compare::Gtu, T>;
  case Compare::Geu:
    return compareTwo<Compare::Geu, T>;
  case Compare::Num:
    return compareTwo<Compare::Num, T>;
  case Compare::Nan:
    return compareTwo<Compare::Nan, T>;
  }
  return nullptr;
}

} // namespace

Handler tilewright::sim::TW_SIM_LEVEL::compareHandler(Compare op, Type type) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return ordered<uint16_t>(op);
  case Type::S16:
    return ordered<int16_t>(op);
  case Type::U32:
  case Type::B32:
    return ordered<uint32_t>(op);
  case Type::S32:
    return ordered<int32_t>(op);
  case Type::U64:
  case Type::B64:
    return ordered<uint64_t>(op);
  case Type::S64:
    return ordered<int64_t>(op);
  case Type::F32:
    return floating<float>(op);
  case Type::F64:
    return floating<double>(op);
  case Type::F16:
    return floating<Half>(op);
  case Type::Bf16:
    return floating<Bfloat>(op);
  case Type::F16x2:
    return two<Half>(op);
  case Type::Bf16x2:
    return two<Bfloat>(op);
  default:
    return nullptr;
  }
}
