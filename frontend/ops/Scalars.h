//===- Scalars.h - scalar functions that several operators need -*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// All take and give f32 or f64 scalars, and are written so that no
// intermediate value overflows where the result does not.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

inline Value literal(BodyBuilder &b, Value like, double value) {
  return b.constant(like.getType(), value);
}
/// A comparison that NaN fails.
inline Value greater(BodyBuilder &b, Value x, Value y) {
  return b.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OGT, x,
                                             y);
}
inline Value lower(BodyBuilder &b, Value x, Value y) {
  return b.createOrFold<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::OLT, x,
                                             y);
}
inline Value absolute(BodyBuilder &b, Value x) {
  return b.create<mlir::math::AbsFOp>(x);
}
inline Value divide(BodyBuilder &b, Value x, Value y) {
  return b.create<mlir::arith::DivFOp>(x, y);
}
/// min(max(x, low), high); NaN stays.
inline Value clamp(BodyBuilder &b, Value x, double low, double high) {
  Value raised = b.create<mlir::arith::MaximumFOp>(x, literal(b, x, low));
  return b.create<mlir::arith::MinimumFOp>(raised, literal(b, x, high));
}

/// 1 / (1 + exp(-x)).
Value sigmoid(BodyBuilder &b, Value x);
/// log(1 + exp(x)).
Value softplus(BodyBuilder &b, Value x);
/// max(0, min(1, alpha x + beta)).
Value hardSigmoid(BodyBuilder &b, Value x, double alpha, double beta);
/// x < 0 ? alpha (exp(x) - 1) : x.
Value elu(BodyBuilder &b, Value x, double alpha);
/// x / (1 + |x|).
Value softsign(BodyBuilder &b, Value x);
/// x to the power of `y`, both floats of one type.
Value power(BodyBuilder &b, Value x, Value y);
/// x to the power of a constant.
Value power(BodyBuilder &b, Value x, double y);

} // namespace tilewright::frontend
