//===- Rounded.cpp - arithmetic that does not round to nearest
//---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The host's rounding mode is set around the loop. This file is compiled so
// that the compiler neither moves arithmetic across that nor folds it.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Handlers.h"
#include "targets/sim/exec/lanes/Numbers.h"

#include <cfenv>
#include <cmath>

using namespace tilewright::sim;
using namespace tilewright::sim::common;

namespace {

template <Alu Op, typename T> T compute(T a, T b, T c) {
  switch (Op) {
  case Alu::Add:
    return a + b;
  case Alu::Sub:
    return a - b;
  case Alu::Mul:
    return a * b;
  case Alu::Fma:
    return std::fma(a, b, c);
  case Alu::DivFloat:
    return a / b;
  case Alu::Sqrt:
    return std::sqrt(a);
  default:
    return T(1) / a;
  }
}

float finish(float x) { return canonical(x); }
double finish(double x) { return x; }

template <Alu Op, typename T> void rounded(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  const T *b = inst.b == noOperand ? a : warp.at<T>(inst.b);
  const T *c = inst.c == noOperand ? a : warp.at<T>(inst.c);
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                              FE_UPWARD};
  volatile T result[lanesPerWarp];
  std::fesetround(modes[inst.mode & 3]);
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    volatile T x = a[i];
    volatile T y = b[i];
    volatile T z = c[i];
    result[i] = compute<Op, T>(x, y, z);
  }
  std::fesetround(FE_TONEAREST);
  T *d = warp.at<T>(inst.d);
  for (unsigned i = 0; i < lanesPerWarp; ++i) {
    if (warp.exec >> i & 1) {
      d[i] = finish(T(result[i]));
    }
  }
}

template <typename T> Handler find(Alu op) {
  switch (op) {
  case Alu::Add:
    return rounded<Alu::Add, T>;
  case Alu::Sub:
    return rounded<Alu::Sub, T>;
  case Alu::Mul:
    return rounded<Alu::Mul, T>;
  case Alu::Fma:
    return rounded<Alu::Fma, T>;
  case Alu::DivFloat:
    return rounded<Alu::DivFloat, T>;
  case Alu::Sqrt:
    return rounded<Alu::Sqrt, T>;
  case Alu::Rcp:
    return rounded<Alu::Rcp, T>;
  default:
    return nullptr;
  }
}

} // namespace

Handler tilewright::sim::roundedHandler(Alu op, ptx::Type type) {
  return type == ptx::Type::F32   ? find<float>(op)
         : type == ptx::Type::F64 ? find<double>(op)
                                  : nullptr;
}
