//===- Mma.cpp - matrix products of a warp ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// mma.sync.m16n8kK. PTX leaves the order of a sum open; here each element of
// the result is a chain of fused multiply-adds over ascending k that begins
// with the accumulator, in single precision (products of the narrow types are
// exact in it). A 16-bit accumulator is rounded once, at the end.
//
// Where elements lie is the same rule for all types: with E elements in a
// register, lane = 4 * group + t holds of A row group + 8 * (r & 1), columns
// t * E + 4 * E * (r >> 1) + j in register r, and of B rows t * E + 4 * E * r
// + j of column group.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/lanes/Level.h"
#include "targets/sim/exec/lanes/Numbers.h"

using namespace tilewright::sim;
using namespace tilewright::sim::TW_SIM_LEVEL;
using ptx::Type;

namespace {

constexpr unsigned rows = 16;
constexpr unsigned columns = 8;

struct F16Element {
  using bits = uint16_t;
  using value = float;
  static float apply(uint16_t x) { return toFloat(Half{x}); }
};
struct Bf16Element {
  using bits = uint16_t;
  using value = float;
  static float apply(uint16_t x) { return toFloat(Bfloat{x}); }
};
/// The lower 13 bits take no part.
struct Tf32Element {
  using bits = uint32_t;
  using value = float;
  static float apply(uint32_t x) { return bitCast<float>(x & 0xFFFFE000); }
};
struct E4m3Element {
  using bits = uint8_t;
  using value = float;
  static float apply(uint8_t x) {
    uint32_t magnitude = x & 0x7F;
    // Exponent bias 7 against 127; the smallest numbers are multiples of 2^-9.
    float normal = bitCast<float>((magnitude << 20) + 0x3C000000);
    float tiny = float(magnitude) * 0x1p-9f;
    float value = magnitude < 8 ? tiny : normal;
    uint32_t bits = magnitude == 0x7F ? floatNan : bitCast<uint32_t>(value);
    return bitCast<float>(bits | uint32_t(x & 0x80) << 24);
  }
};
struct E5m2Element {
  using bits = uint8_t;
  using value = float;
  static float apply(uint8_t x) { return toFloat(Half{uint16_t(x << 8)}); }
};
struct S8Element {
  using bits = uint8_t;
  using value = int32_t;
  static int32_t apply(uint8_t x) { return int8_t(x); }
};
struct U8Element {
  using bits = uint8_t;
  using value = int32_t;
  static int32_t apply(uint8_t x) { return x; }
};

float multiplyAdd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// The full matrices of a warp.
template <typename T, unsigned K> struct Matrices {
  alignas(64) T a[rows][K];
  alignas(64) T b[K][columns];
  alignas(64) T c[rows][columns];
};

template <typename Element, unsigned K, typename T>
void gatherA(const Warp &warp, const uint32_t *registers, T (*a)[K]) {
  using Bits = typename Element::bits;
  constexpr unsigned e = 4 / sizeof(Bits);
  constexpr unsigned count = rows * K / (lanesPerWarp * e);
  for (unsigned r = 0; r < count; ++r) {
    const Bits *from = warp.at<Bits>(registers[r]);
    alignas(64) T value[lanesPerWarp * e];
    TW_LANES
    for (unsigned i = 0; i < lanesPerWarp * e; ++i) {
      value[i] = Element::apply(from[i]);
    }
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      for (unsigned j = 0; j < e; ++j) {
        a[lane / 4 + 8 * (r & 1)][lane % 4 * e + 4 * e * (r >> 1) + j] =
            value[lane * e + j];
      }
    }
  }
}

template <typename Element, unsigned K, typename T>
void gatherB(const Warp &warp, const uint32_t *registers, T (*b)[columns]) {
  using Bits = typename Element::bits;
  constexpr unsigned e = 4 / sizeof(Bits);
  constexpr unsigned count = columns * K / (lanesPerWarp * e);
  for (unsigned r = 0; r < count; ++r) {
    const Bits *from = warp.at<Bits>(registers[r]);
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      for (unsigned j = 0; j < e; ++j) {
        b[lane % 4 * e + 4 * e * r + j][lane / 4] =
            Element::apply(from[lane * e + j]);
      }
    }
  }
}

template <unsigned K> void multiply(Matrices<float, K> &m) {
  for (unsigned k = 0; k < K; ++k) {
    for (unsigned i = 0; i < rows; ++i) {
      float factor = m.a[i][k];
      float *c = m.c[i];
      const float *b = m.b[k];
      TW_LANES
      for (unsigned n = 0; n < columns; ++n) {
        c[n] = multiplyAdd(factor, b[n], c[n]);
      }
    }
  }
}

bool takesAllLanes(Warp &warp, const Inst &inst) {
  if (warp.exec == allLanes) {
    return true;
  }
  raise(warp, inst, FaultKind::DivergentWarp,
        unsigned(__builtin_ctz(warp.exec)), 0, 0, nullptr,
        "a matrix instruction needs all 32 lanes");
  return false;
}

void count(Warp &warp, MatrixType type, unsigned k) {
  warp.worker->counters.matrixMultiplyAdds[unsigned(type)] +=
      rows * columns * k;
}

template <typename A, typename B, unsigned K, MatrixType Kind>
void mmaFloat(Warp &warp, const Inst &inst) {
  if (!takesAllLanes(warp, inst)) {
    return;
  }
  constexpr unsigned registersA = rows * K * sizeof(typename A::bits) / 128;
  constexpr unsigned registersB = columns * K * sizeof(typename B::bits) / 128;
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  Matrices<float, K> m;
  gatherA<A, K>(warp, wide + 4, m.a);
  gatherB<B, K>(warp, wide + 4 + registersA, m.b);
  const uint32_t *c = wide + 4 + registersA + registersB;
  for (unsigned r = 0; r < 4; ++r) {
    const float *from = warp.at<float>(c[r]);
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      m.c[lane / 4 + 8 * (r >> 1)][lane % 4 * 2 + (r & 1)] = from[lane];
    }
  }
  multiply(m);
  for (unsigned r = 0; r < 4; ++r) {
    float *to = warp.at<float>(wide[r]);
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      to[lane] =
          canonical(m.c[lane / 4 + 8 * (r >> 1)][lane % 4 * 2 + (r & 1)]);
    }
  }
  count(warp, Kind, K);
}

/// With accumulators in f16, two to a register.
template <typename A, typename B, unsigned K, MatrixType Kind>
void mmaHalf(Warp &warp, const Inst &inst) {
  if (!takesAllLanes(warp, inst)) {
    return;
  }
  constexpr unsigned registersA = rows * K * sizeof(typename A::bits) / 128;
  constexpr unsigned registersB = columns * K * sizeof(typename B::bits) / 128;
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  Matrices<float, K> m;
  gatherA<A, K>(warp, wide + 2, m.a);
  gatherB<B, K>(warp, wide + 2 + registersA, m.b);
  const uint32_t *c = wide + 2 + registersA + registersB;
  for (unsigned r = 0; r < 2; ++r) {
    const Half *from = warp.at<Half>(c[r]);
    for (unsigned i = 0; i < 2 * lanesPerWarp; ++i) {
      m.c[i / 8 + 8 * r][i % 8] = toFloat(from[i]);
    }
  }
  multiply(m);
  for (unsigned r = 0; r < 2; ++r) {
    Half *to = warp.at<Half>(wide[r]);
    for (unsigned i = 0; i < 2 * lanesPerWarp; ++i) {
      to[i] = toHalf(m.c[i / 8 + 8 * r][i % 8]);
    }
  }
  count(warp, Kind, K);
}

/// Sums of integers wrap, or saturate at the end with .satfinite.
template <typename A, typename B, unsigned K>
void mmaInteger(Warp &warp, const Inst &inst) {
  if (!takesAllLanes(warp, inst)) {
    return;
  }
  constexpr unsigned registersA = rows * K / 128;
  constexpr unsigned registersB = columns * K / 128;
  const uint32_t *wide = warp.launch->code->wide.data() + inst.wide;
  Matrices<int32_t, K> m;
  gatherA<A, K>(warp, wide + 4, m.a);
  gatherB<B, K>(warp, wide + 4 + registersA, m.b);
  const uint32_t *c = wide + 4 + registersA + registersB;
  for (unsigned i = 0; i < rows; ++i) {
    int32_t *sum = m.c[i];
    for (unsigned n = 0; n < columns; ++n) {
      sum[n] = 0;
    }
    for (unsigned k = 0; k < K; ++k) {
      int32_t factor = m.a[i][k];
      const int32_t *b = m.b[k];
      TW_LANES
      for (unsigned n = 0; n < columns; ++n) {
        sum[n] += factor * b[n];
      }
    }
  }
  int32_t result[4][lanesPerWarp];
  for (unsigned r = 0; r < 4; ++r) {
    const int32_t *from = warp.at<int32_t>(c[r]);
    for (unsigned lane = 0; lane < lanesPerWarp; ++lane) {
      int64_t sum = int64_t(from[lane]) +
                    m.c[lane / 4 + 8 * (r >> 1)][lane % 4 * 2 + (r & 1)];
      int64_t clamped = sum < INT32_MIN   ? INT32_MIN
                        : sum > INT32_MAX ? INT32_MAX
                                          : sum;
      result[r][lane] = int32_t(inst.mode ? clamped : sum);
    }
  }
  for (unsigned r = 0; r < 4; ++r) {
    merge<4>(warp.at<int32_t>(wide[r]), result[r], allLanes);
  }
  count(warp, MatrixType::Int8, K);
}

template <typename Element, MatrixType Kind, unsigned Small, unsigned Large>
Handler floating(unsigned k, Type accumulator) {
  if (accumulator == Type::F32) {
    return k == Small   ? mmaFloat<Element, Element, Small, Kind>
           : k == Large ? mmaFloat<Element, Element, Large, Kind>
                        : nullptr;
  }
  return nullptr;
}

template <typename A, typename B>
Handler eightBits(unsigned k, Type accumulator) {
  if (accumulator == Type::F32) {
    return k == 16   ? mmaFloat<A, B, 16, MatrixType::Fp8>
           : k == 32 ? mmaFloat<A, B, 32, MatrixType::Fp8>
                     : nullptr;
  }
  if (accumulator == Type::F16) {
    return k == 16   ? mmaHalf<A, B, 16, MatrixType::Fp8>
           : k == 32 ? mmaHalf<A, B, 32, MatrixType::Fp8>
                     : nullptr;
  }
  return nullptr;
}

template <typename A, typename B> Handler integers(unsigned k) {
  return k == 16   ? mmaInteger<A, B, 16>
         : k == 32 ? mmaInteger<A, B, 32>
                   : nullptr;
}

Handler halves(unsigned k, Type accumulator) {
  if (accumulator == Type::F16) {
    return k == 8    ? mmaHalf<F16Element, F16Element, 8, MatrixType::F16>
           : k == 16 ? mmaHalf<F16Element, F16Element, 16, MatrixType::F16>
                     : nullptr;
  }
  return floating<F16Element, MatrixType::F16, 8, 16>(k, accumulator);
}

} // namespace

Handler tilewright::sim::TW_SIM_LEVEL::mmaHandler(unsigned k, Type a, Type b,
                                                  Type accumulator) {
  bool aIs4 = a == Type::E4m3;
  bool bIs4 = b == Type::E4m3;
  if ((aIs4 || a == Type::E5m2) && (bIs4 || b == Type::E5m2)) {
    return aIs4 ? (bIs4 ? eightBits<E4m3Element, E4m3Element>(k, accumulator)
                        : eightBits<E4m3Element, E5m2Element>(k, accumulator))
                : (bIs4 ? eightBits<E5m2Element, E4m3Element>(k, accumulator)
                        : eightBits<E5m2Element, E5m2Element>(k, accumulator));
  }
  bool aIsSigned = a == Type::S8;
  bool bIsSigned = b == Type::S8;
  if ((aIsSigned || a == Type::U8) && (bIsSigned || b == Type::U8)) {
    return accumulator != Type::S32 ? nullptr
           : aIsSigned ? (bIsSigned ? integers<S8Element, S8Element>(k)
                                    : integers<S8Element, U8Element>(k))
                       : (bIsSigned ? integers<U8Element, S8Element>(k)
                                    : integers<U8Element, U8Element>(k));
  }
  if (a != b) {
    return nullptr;
  }
  switch (a) {
  case Type::F16:
    return halves(k, accumulator);
  case Type::Bf16:
    return floating<Bf16Element, MatrixType::Bf16, 8, 16>(k, accumulator);
  case Type::Tf32:
    return floating<Tf32Element, MatrixType::Tf32, 4, 8>(k, accumulator);
  default:
    return nullptr;
  }
}
