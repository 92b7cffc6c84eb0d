//===- Quotient.cpp - quotients by one divisor for all lanes --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Markstein: with r = 1/d rounded, q = x·r and the remainder e = x - q·d, which
// a fused multiply-add gives exactly, q + e·r rounds to the quotient. Dividing
// a vector takes as long as some twenty multiplications.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

#include <limits>

using namespace mlir;

namespace tilewright {

Lane emitQuotient(Lane x, Lane divisor, Lane reciprocal, bool mayOverflow) {
  Lane quotient = x * reciprocal;
  Lane rest = mulAdd(-quotient, divisor, x);
  Lane corrected = mulAdd(rest, reciprocal, quotient);
  // The rest of an infinity is none, and a zero keeps its sign.
  Lane zero = rest.math->constant(rest, 0);
  Lane isRest = rest.math->wrap(
      arith::CmpFOp::create(x.math->builder, x.math->loc,
                            arith::CmpFPredicate::ONE, rest.value, zero.value));
  if (mayOverflow) {
    isRest = isRest && (abs(rest) < std::numeric_limits<double>::infinity());
  }
  return select(isRest, corrected, quotient);
}

} // namespace tilewright
