//===- InverseTrigonometric.cpp - asin, acos, atan, atan2 -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// All of them rest on the angle of a point in the first quadrant: folded into
// [0, π/4] by swapping the coordinates, into [−π/8, π/8] by turning by −π/4,
// and there atan t = t + t³·P(t²), fit error 1.2e-18.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

#include <limits>

using namespace mlir;

namespace tilewright {

namespace {
const double infinity = std::numeric_limits<double>::infinity();
const double halfPi = 0x1.921fb54442d18p0, halfPiLow = 0x1.1a62633145c07p-54;
const double tanPiOver8 = 0.41421356237309503;

/// The angle of the point (x, y), both ≥ 0 and not both zero or infinite.
Lane firstQuadrant(Lane y, Lane x) {
  Lane swapped = y > x;
  Lane small = select(swapped, x, y);
  Lane big = select(swapped, y, x);
  Lane turned = small > big * tanPiOver8;
  Lane numerator = select(turned, small - big, small);
  Lane denominator = select(turned, small + big, big);
  Lane t = numerator / denominator;
  Lane z = t * t;
  Lane p = polynomial(
      z, {0.016285676314084417, -0.03457048930586775, 0.04551590394759387,
          -0.052304536511503345, 0.05878928913721616, -0.06666424878422776,
          0.07692296374624841, -0.0909090875348679, 0.11111111105155164,
          -0.14285714285659826, 0.19999999999999804, -0.3333333333333333});
  Lane tail = t * z * p;
  // base ± (t + tail), the base in two parts: 0, π/4, π/2 − π/4 or π/2.
  Lane quarter = x.math->constant(x, halfPi / 2);
  Lane zero = x.math->constant(x, 0.0);
  Lane baseHigh = select(turned, quarter, select(swapped, halfPi, zero));
  Lane quarterLow = x.math->constant(x, halfPiLow / 2);
  Lane baseLow = select(turned, quarterLow, select(swapped, halfPiLow, zero));
  Lane sign = select(swapped, x.math->constant(x, -1.0), 1.0);
  Lane head = t * sign;
  Lane rest = mulAdd(tail, sign, baseLow);
  DoubleLane sum = quickTwoSum(baseHigh, head);
  // Without a base the sum is head itself.
  Lane low = sum.low + rest;
  return sum.high + low;
}
} // namespace

Lane emitAtan2(Lane y, Lane x) {
  LaneMath &math = *x.math;
  // Infinities become finite points on the same ray; so do huge and tiny ones.
  Lane magnitudeX = abs(x), magnitudeY = abs(y);
  Lane infiniteX = magnitudeX == infinity, infiniteY = magnitudeY == infinity;
  Lane anyInfinite = infiniteX || infiniteY;
  Lane px = select(anyInfinite, select(infiniteX, math.constant(x, 1.0), 0.0),
                   magnitudeX);
  Lane py = select(anyInfinite, select(infiniteY, math.constant(y, 1.0), 0.0),
                   magnitudeY);
  Lane isHuge = (px > 0x1p1000) || (py > 0x1p1000);
  Lane scale = select(isHuge, math.constant(x, 0x1p-100), 0x1p100);
  Lane scaledDown = isHuge || ((px < 0x1p800) && (py < 0x1p800));
  scale = select(scaledDown, scale, 1.0);
  px = px * scale;
  py = py * scale;
  // The origin has the angle of the positive x axis.
  Lane isOrigin = (px == 0.0) && (py == 0.0);
  Lane angle = firstQuadrant(py, select(isOrigin, 1.0, px));
  // Left half: π − angle. The sign bit decides, of −0 as well.
  Lane isLeft = copySign(math.constant(x, 1.0), x) < 0.0;
  Lane mirrored = 2 * halfPi - (angle - 2 * halfPiLow);
  Lane result = copySign(select(isLeft, mirrored, angle), y);
  // NaN in either operand.
  return select(isNaN(x) || isNaN(y), x + y, result);
}

Lane emitAtan(Lane x) {
  Lane one = x.math->constant(x, 1.0);
  Lane isInfinite = abs(x) == infinity;
  Lane magnitude = select(isInfinite, 0x1p500, abs(x));
  Lane angle = firstQuadrant(magnitude, one);
  Lane result = copySign(select(magnitude < 0x1p-500, magnitude, angle), x);
  return select(isNaN(x), x, result);
}

Lane emitAsin(Lane x) {
  Lane magnitude = abs(x);
  Lane adjacent = sqrt((1.0 - magnitude) * (magnitude + 1.0));
  Lane angle = firstQuadrant(magnitude, adjacent);
  Lane result = copySign(select(magnitude < 0x1p-500, magnitude, angle), x);
  return select(isNaN(adjacent), adjacent, result);
}

Lane emitAcos(Lane x) {
  Lane magnitude = abs(x);
  Lane opposite = sqrt((1.0 - magnitude) * (magnitude + 1.0));
  Lane angle = firstQuadrant(opposite, magnitude);
  Lane mirrored = 2 * halfPi - (angle - 2 * halfPiLow);
  Lane result = select(x < 0.0, mirrored, angle);
  return select(isNaN(opposite), opposite, result);
}

} // namespace tilewright
