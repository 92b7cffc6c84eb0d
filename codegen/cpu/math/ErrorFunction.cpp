//===- ErrorFunction.cpp - erf --------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// |x| ≤ 1: x + x·P(x²). Beyond, 1 − erfc(|x|), with erfc as
//   f32: e^−Q(x), Q fitted to −log erfc on [1, 4], error 1.7e-8;
//   f64: e^−x²·R(t), t = (x − 2)/(x + 2), R fitted to e^x²·erfc on [1, 6],
//   error 2.4e-18.
// erfc is at most 0.16 there, so its relative error counts for a sixth.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

using namespace mlir;

namespace tilewright {

namespace {
Lane centralErf(Lane x) {
  Lane z = x * x;
  Lane p = isDouble(x)
               ? polynomial(z, {5.957176147748911e-11, -1.1372848856791674e-09,
                                1.4659775274047436e-08, -1.6350312701054695e-07,
                                1.6461000484121368e-06, -1.4925595266831182e-05,
                                0.0001205533111164271, -0.000854832698083379,
                                0.0052239776248180145, -0.026866170645076792,
                                0.11283791670954879, -0.3761263890318375,
                                0.1283791670955126})
               : polynomial(z, {-9.66704465e-06, 0.000112659589,
                                -0.000848408032, 0.00522103161, -0.0268654302,
                                0.112837821, -0.376126379, 0.128379166});
  return mulAdd(x, p, x);
}

Lane outerErfc(Lane x) {
  if (!isDouble(x)) {
    Lane q = polynomial(x, {-1.6371514e-06, 4.60580413e-05, -0.00059680565,
                            0.0047595962, -0.0264211353, 0.110080086,
                            0.631826043, 1.13023341, -0.00032013806});
    return emitExp(-q);
  }
  Lane t = (x - 2.0) / (x + 2.0);
  Lane r = polynomial(
      t, {-1.1352566645831884e-06, 1.272565582514127e-06, 4.011751550642576e-06,
          1.3058577245819807e-06, -1.3998284413052448e-05,
          -2.756220901161172e-05, 2.7527175634845686e-05, 0.0001743594739753135,
          4.355558686150308e-05, -0.0009819769411019293, -0.0008471432529918484,
          0.006997461736971514, 0.003732892404397833, -0.07897858101570611,
          0.24165819424246585, -0.4271858474139585, 0.25539567631050575});
  return emitExp(-(x * x)) * r;
}
} // namespace

Lane emitErf(Lane x) {
  Lane magnitude = abs(x);
  Lane central = centralErf(clamp(magnitude, 0, 1));
  Lane outer = 1.0 - outerErfc(clamp(magnitude, 1, isDouble(x) ? 6 : 4));
  return copySign(select(magnitude > 1.0, outer, central), x);
}

} // namespace tilewright
