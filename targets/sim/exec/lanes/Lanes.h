//===- Lanes.h - one operation for all lanes -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The loops over a warp's lanes that the host compiler turns into vector
// instructions. When some lanes do not take part, results go to a buffer
// first and then into the lanes that do.
//
// Files in this folder are compiled once per host instruction set. They keep
// to functions of their own namespace, so that the linker cannot give code
// for a newer instruction set to an older machine.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/exec/Machine.h"

#include <cstdint>
#include <type_traits>

#ifndef TW_SIM_LEVEL
#define TW_SIM_LEVEL common
#endif

#if defined(__clang__)
#define TW_LANES                                                               \
  _Pragma("clang loop vectorize(assume_safety)")                               \
      _Pragma("clang loop unroll(disable)")
#else
#define TW_LANES _Pragma("GCC ivdep")
#endif

namespace tilewright::sim::TW_SIM_LEVEL {

constexpr uint32_t allLanes = ~uint32_t(0);

template <unsigned Bytes> struct BitsOf;
template <> struct BitsOf<1> {
  using type = uint8_t;
};
template <> struct BitsOf<2> {
  using type = uint16_t;
};
template <> struct BitsOf<4> {
  using type = uint32_t;
};
template <> struct BitsOf<8> {
  using type = uint64_t;
};

template <typename To, typename From> static inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

/// Copies the lanes in `mask`.
template <unsigned Bytes>
static inline void merge(void *to, const void *from, uint32_t mask) {
  using T = typename BitsOf<Bytes>::type;
  T *d = static_cast<T *>(to);
  const T *s = static_cast<const T *>(from);
  TW_LANES
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    d[i] = (mask >> i & 1) ? s[i] : d[i];
  }
}

/// d[i] = f(i) for the elements of all executing lanes; `Per` elements lie in
/// one lane's register.
template <typename D, unsigned Per = 1, typename F>
static inline void forLanes(Warp &warp, uint32_t to, F f) {
  D *d = warp.at<D>(to);
  if (warp.exec == allLanes) {
    TW_LANES
    for (unsigned i = 0; i < lanesPerWarp * Per; ++i) {
      d[i] = f(i);
    }
    return;
  }
  alignas(64) D partial[lanesPerWarp * Per];
  TW_LANES
  for (unsigned i = 0; i < lanesPerWarp * Per; ++i) {
    partial[i] = f(i);
  }
  merge<sizeof(D) * Per>(d, partial, warp.exec);
}

template <typename Op, typename D, typename A, unsigned Per = 1>
static void map1(Warp &warp, const Inst &inst) {
  const A *a = warp.at<A>(inst.a);
  forLanes<D, Per>(warp, inst.d, [=](unsigned i) { return Op::apply(a[i]); });
}

template <typename Op, typename D, typename A, typename B = A, unsigned Per = 1>
static void map2(Warp &warp, const Inst &inst) {
  const A *a = warp.at<A>(inst.a);
  const B *b = warp.at<B>(inst.b);
  forLanes<D, Per>(warp, inst.d,
                   [=](unsigned i) { return Op::apply(a[i], b[i]); });
}

template <typename Op, typename D, typename A, typename B = A, typename C = A,
          unsigned Per = 1>
static void map3(Warp &warp, const Inst &inst) {
  const A *a = warp.at<A>(inst.a);
  const B *b = warp.at<B>(inst.b);
  const C *c = warp.at<C>(inst.c);
  forLanes<D, Per>(warp, inst.d,
                   [=](unsigned i) { return Op::apply(a[i], b[i], c[i]); });
}

} // namespace tilewright::sim::TW_SIM_LEVEL
