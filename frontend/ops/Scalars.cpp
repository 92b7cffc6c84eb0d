//===- Scalars.cpp - scalar functions that several operators need ---------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

Value sigmoid(BodyBuilder &b, Value x) {
  // exp(-x) may be infinite: the result is then 0, as it should be.
  Value decay = b.create<math::ExpOp>(b.create<arith::NegFOp>(x));
  Value one = literal(b, x, 1.0);
  return divide(b, one, b.addOf(one, decay));
}

Value softplus(BodyBuilder &b, Value x) {
  Value decay = b.create<math::ExpOp>(b.create<arith::NegFOp>(absolute(b, x)));
  Value positive = b.create<arith::MaximumFOp>(x, literal(b, x, 0.0));
  return b.addOf(positive, b.create<math::Log1pOp>(decay));
}

Value hardSigmoid(BodyBuilder &b, Value x, double alpha, double beta) {
  Value line = b.addOf(b.mulOf(x, literal(b, x, alpha)), literal(b, x, beta));
  return clamp(b, line, 0.0, 1.0);
}

Value elu(BodyBuilder &b, Value x, double alpha) {
  Value negative = b.mulOf(literal(b, x, alpha), b.create<math::ExpM1Op>(x));
  return b.select(lower(b, x, literal(b, x, 0.0)), negative, x);
}

Value softsign(BodyBuilder &b, Value x) {
  return divide(b, x, b.addOf(literal(b, x, 1.0), absolute(b, x)));
}

Value power(BodyBuilder &b, Value x, Value y) {
  return b.create<math::PowFOp>(x, y);
}

Value power(BodyBuilder &b, Value x, double y) {
  if (y == 1.0) {
    return x;
  }
  if (y == 2.0) {
    return b.mulOf(x, x);
  }
  if (y == 3.0) {
    return b.mulOf(b.mulOf(x, x), x);
  }
  if (y == -1.0) {
    return divide(b, literal(b, x, 1.0), x);
  }
  return power(b, x, literal(b, x, y));
}

} // namespace tilewright::frontend
