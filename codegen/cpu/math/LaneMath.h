//===- LaneMath.h - formulas over scalars and vectors -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A small notation for emitting arithmetic, so that a polynomial reads like
// one:
//
//   Lane r = x * 2.0 + 1.0;
//   Lane y = select(x < 0.0, -r, r);
//
// A Lane is a scalar or a one-dimensional vector; all lanes compute the same
// without branches. Numbers become constants of the other operand's type.
// Integer operations have names; operators on integer lanes take integer
// constants. Operations are emitted in the order in which they are written: one
// per statement where the order of evaluation would be open.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <initializer_list>

namespace tilewright {

class LaneMath;

/// One value of a formula.
struct Lane {
  mlir::Value value;
  LaneMath *math = nullptr;
};

/// Instructions of a level that formulas are better with.
struct MathFeatures {
  bool fma = false;       ///< a fused multiply-add
  bool scalesBy2 = false; ///< x·2^n for 16 floats (VSCALEFPS)
};

/// Emits operations at a builder's insertion point.
class LaneMath {
public:
  LaneMath(mlir::OpBuilder &builder, mlir::Location loc, MathFeatures features)
      : builder(builder), loc(loc), features(features) {}

  Lane wrap(mlir::Value value) { return {value, this}; }
  /// \returns `value` in the type of `like`, which is a float.
  Lane constant(Lane like, double value);
  /// \returns `value` in the type of `like`, which is an integer.
  Lane constantInt(Lane like, int64_t value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const MathFeatures features;
};

/// \returns `type` with its element type replaced: of the same shape.
mlir::Type withElement(mlir::Type type, mlir::Type element);

// Floating point.
Lane operator+(Lane a, Lane b);
Lane operator-(Lane a, Lane b);
Lane operator*(Lane a, Lane b);
Lane operator/(Lane a, Lane b);
Lane operator-(Lane a);
Lane operator+(Lane a, double b);
Lane operator-(Lane a, double b);
Lane operator*(Lane a, double b);
Lane operator/(Lane a, double b);
Lane operator+(double a, Lane b);
Lane operator-(double a, Lane b);
Lane operator*(double a, Lane b);
Lane operator/(double a, Lane b);

/// a·b + c, fused where the level has the instruction, else rounded twice.
Lane mulAdd(Lane a, Lane b, Lane c);
Lane mulAdd(Lane a, Lane b, double c);
Lane mulAdd(Lane a, double b, Lane c);
/// Horner's rule; the coefficients begin with that of the highest power.
Lane polynomial(Lane x, std::initializer_list<double> coefficients);
Lane abs(Lane x);
Lane sqrt(Lane x);
Lane copySign(Lane magnitude, Lane sign);

// Comparisons; false when an operand is NaN, but for !=.
Lane operator<(Lane a, Lane b);
Lane operator<(Lane a, double b);
Lane operator>(Lane a, Lane b);
Lane operator>(Lane a, double b);
Lane operator<=(Lane a, double b);
Lane operator>=(Lane a, Lane b);
Lane operator>=(Lane a, double b);
Lane operator==(Lane a, Lane b);
Lane operator==(Lane a, double b);
Lane operator!=(Lane a, Lane b);
Lane isNaN(Lane x);
/// Bits of a condition.
Lane operator&&(Lane a, Lane b);
Lane operator||(Lane a, Lane b);
Lane operator!(Lane a);
/// \returns a scalar: whether the condition holds in any lane.
mlir::Value anyLane(Lane condition);

Lane select(Lane condition, Lane a, Lane b);
Lane select(Lane condition, double a, Lane b);
Lane select(Lane condition, Lane a, double b);
/// \returns x limited to [low, high]; NaN stays NaN.
Lane clamp(Lane x, double low, double high);

// Integers. Shifts are by constants or by lanes below the width.
Lane addInt(Lane a, Lane b);
Lane addInt(Lane a, int64_t b);
Lane subInt(Lane a, Lane b);
Lane subInt(Lane a, int64_t b);
Lane mulInt(Lane a, Lane b);
Lane andInt(Lane a, int64_t b);
Lane orInt(Lane a, Lane b);
Lane orInt(Lane a, int64_t b);
Lane xorInt(Lane a, Lane b);
Lane shiftLeft(Lane a, int64_t count);
Lane shiftLeft(Lane a, Lane count);
Lane shiftRightSigned(Lane a, int64_t count);
Lane shiftRightUnsigned(Lane a, int64_t count);
Lane shiftRightUnsigned(Lane a, Lane count);
Lane compareInt(mlir::arith::CmpIPredicate predicate, Lane a, Lane b);
Lane compareInt(mlir::arith::CmpIPredicate predicate, Lane a, int64_t b);

// Conversions; element widths in bits.
Lane bitsOf(Lane floating);
Lane floatOfBits(Lane integer, mlir::Type floatElement);
Lane toF64(Lane x);
Lane toF32(Lane x);
Lane truncateInt(Lane x, unsigned width);
Lane extendSigned(Lane x, unsigned width);
Lane extendUnsigned(Lane x, unsigned width);
/// Exact when |x| fits the mantissa.
Lane signedToFloat(Lane x, mlir::Type floatElement);

/// \returns true when the element type of `x` is f64.
bool isDouble(Lane x);

/// An integer n next to x, as a float and in bits; |x| < 2^22 (f32), 2^51
/// (f64). NaN gives NaN and defined bits.
struct Rounded {
  Lane asFloat;
  Lane asInt; ///< i32 for f32, i64 for f64
};
Rounded roundToInt(Lane x);

/// x·2^n, rounded once; overflows to infinity. \pre |n| < 2^8 (f32), 2^11
/// (f64).
Lane scaleBy2(Lane x, Rounded n);

/// \returns 2^n for an integer lane in the range of normal numbers.
Lane powerOfTwo(Lane n, mlir::Type floatElement);

/// A value as the sum of two floats, the second one small against the first.
struct DoubleLane {
  Lane high, low;
};
/// a + b exactly.
DoubleLane twoSum(Lane a, Lane b);
/// a + b exactly, when |a| ≥ |b|.
DoubleLane quickTwoSum(Lane a, Lane b);
/// a · b exactly (f64), without overflow.
DoubleLane twoProduct(Lane a, Lane b);

} // namespace tilewright
