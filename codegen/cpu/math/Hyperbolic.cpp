//===- Hyperbolic.cpp - tanh, sinh, cosh and their inverses ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

#include <limits>

using namespace mlir;

namespace tilewright {

namespace {
/// Past this, 1 + x² is x² in f64.
const double huge = 0x1p28;
const double ln2 = 0.6931471805599453;
} // namespace

Lane emitTanh(Lane x) {
  // (e^2x − 1)/(e^2x + 1) by expm1; past the limit the result is ±1.
  Lane limited = clamp(abs(x), 0, isDouble(x) ? 22 : 10);
  Lane t = emitExpm1(limited + limited);
  return copySign(t / (t + 2.0), x);
}

Lane emitSinh(Lane x) {
  Lane magnitude = abs(x);
  Lane t = emitExpm1(magnitude);
  Lane small = (t + t / (t + 1.0)) * 0.5;
  // e^x/2 as the product of two halves, which overflows only if the result
  // does.
  Lane root = emitExp(magnitude * 0.5);
  Lane large = root * 0.5 * root;
  return copySign(select(magnitude < 22.0, small, large), x);
}

Lane emitCosh(Lane x) {
  Lane magnitude = abs(x);
  Lane t = emitExp(magnitude);
  Lane small = t * 0.5 + 0.5 / t;
  Lane root = emitExp(magnitude * 0.5);
  Lane large = root * 0.5 * root;
  return select(magnitude < 22.0, small, large);
}

Lane emitAsinh(Lane x) {
  Lane magnitude = abs(x);
  Lane square = magnitude * magnitude;
  Lane small = magnitude + square / (sqrt(square + 1.0) + 1.0);
  Lane isLarge = magnitude > huge;
  Lane result = emitLog1p(select(isLarge, magnitude - 1.0, small));
  return copySign(select(isLarge, result + ln2, result), x);
}

Lane emitAcosh(Lane x) {
  Lane t = x - 1.0;
  Lane small = t + sqrt(t * 2.0 + t * t);
  Lane isLarge = x > huge;
  Lane result = emitLog1p(select(isLarge, t, small));
  result = select(isLarge, result + ln2, result);
  return select(x < 1.0, std::numeric_limits<double>::quiet_NaN(), result);
}

Lane emitAtanh(Lane x) {
  Lane magnitude = abs(x);
  Lane ratio = (magnitude + magnitude) / (1.0 - magnitude);
  return copySign(emitLog1p(ratio) * 0.5, x);
}

} // namespace tilewright
