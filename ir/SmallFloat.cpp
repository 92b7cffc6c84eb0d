//===- SmallFloat.cpp - 8-bit and 4-bit floats in bodies ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A small float has one sign bit, `mantissa` fraction bits and the rest as
// exponent. Widening shifts the fields into f32's place and rescales by a
// power of two, which also turns subnormals into normal f32s. Narrowing rounds
// by adding a multiple of the target's spacing.
//
//===----------------------------------------------------------------------===//

#include "ir/SmallFloat.h"
#include "ir/BodyBuilder.h"
#include <cmath>

using namespace mlir;

namespace tilewright::tw {

namespace {

struct Format {
  unsigned width;
  unsigned mantissa;
  int bias;
  bool hasSign;
  bool hasInfinity;
  bool isFnuz; // NaN is the bit pattern of negative zero
  bool hasNan;
  unsigned largest; // bit pattern of the largest finite value
};

} // namespace

static Format formatOf(FloatType type) {
  if (isa<Float8E4M3FNType>(type)) {
    return {8, 3, 7, true, false, false, true, 0x7e};
  }
  if (isa<Float8E4M3FNUZType>(type)) {
    return {8, 3, 8, true, false, true, true, 0x7f};
  }
  if (isa<Float8E5M2Type>(type)) {
    return {8, 2, 15, true, true, false, true, 0x7b};
  }
  if (isa<Float8E5M2FNUZType>(type)) {
    return {8, 2, 16, true, false, true, true, 0x7f};
  }
  if (isa<Float8E8M0FNUType>(type)) {
    return {8, 0, 127, false, false, false, true, 0xfe};
  }
  return {4, 1, 1, true, false, false, false, 0x7}; // f4E2M1FN
}

namespace {

/// i32 arithmetic in a body.
struct Bits {
  BodyBuilder &b;
  Type i32 = b.getI32Type();

  Value constant(uint32_t value) {
    return b.integer(i32, static_cast<int32_t>(value));
  }
  Value andOf(Value a, uint32_t mask) {
    return b.createOrFold<arith::AndIOp>(a, constant(mask));
  }
  Value orOf(Value a, Value c) { return b.createOrFold<arith::OrIOp>(a, c); }
  Value left(Value a, unsigned n) {
    return b.createOrFold<arith::ShLIOp>(a, constant(n));
  }
  Value right(Value a, unsigned n) {
    return b.createOrFold<arith::ShRUIOp>(a, constant(n));
  }
  Value equal(Value a, uint32_t c) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, a,
                                         constant(c));
  }
  Value above(Value a, uint32_t c) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ugt, a,
                                         constant(c));
  }
  Value asFloat(Value a) {
    return b.create<arith::BitcastOp>(b.getF32Type(), a);
  }
  Value asBits(Value a) { return b.create<arith::BitcastOp>(i32, a); }
};

} // namespace

static uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// 2^(byte - 127); 255 is NaN.
static Value widenPowerOfTwo(Bits &bits, Value raw) {
  Value normal = bits.left(raw, 23);
  Value smallest = bits.constant(0x00400000); // 2^-127 is subnormal in f32
  Value value = bits.b.select(bits.equal(raw, 0), smallest, normal);
  value =
      bits.b.select(bits.equal(raw, 0xff), bits.constant(0x7fc00000), value);
  return bits.asFloat(value);
}

Value widenSmallFloat(BodyBuilder &b, Value scalar) {
  Format format = formatOf(cast<FloatType>(scalar.getType()));
  Bits bits{b};
  Value raw = b.create<arith::ExtUIOp>(
      bits.i32,
      b.create<arith::BitcastOp>(b.getIntegerType(format.width), scalar));
  if (!format.hasSign) {
    return widenPowerOfTwo(bits, raw);
  }
  uint32_t signBit = 1u << (format.width - 1);
  Value magnitude = bits.andOf(raw, signBit - 1);
  Value sign = bits.left(bits.andOf(raw, signBit), 32 - format.width);
  Value scale = b.constant(b.getF32Type(), std::ldexp(1.0, 127 - format.bias));
  Value placed = bits.asFloat(bits.left(magnitude, 23 - format.mantissa));
  // Where the exponent's field is zero, what is placed is subnormal in f32, and
  // kernels may take that for zero: the mantissa counts in steps.
  Value step = b.constant(
      b.getF32Type(),
      std::ldexp(1.0, 1 - format.bias - static_cast<int>(format.mantissa)));
  Value count = b.create<arith::SIToFPOp>(b.getF32Type(), magnitude);
  Value isNormal = bits.above(magnitude, (1u << format.mantissa) - 1);
  Value value =
      bits.asBits(b.select(isNormal, b.create<arith::MulFOp>(placed, scale),
                           b.create<arith::MulFOp>(count, step)));
  if (format.hasInfinity) {
    value = b.select(bits.equal(magnitude, format.largest + 1),
                     bits.constant(0x7f800000), value);
    value = b.select(bits.above(magnitude, format.largest + 1),
                     bits.constant(0x7fc00000), value);
  } else if (!format.isFnuz && format.hasNan) {
    value = b.select(bits.above(magnitude, format.largest),
                     bits.constant(0x7fc00000), value);
  }
  value = bits.orOf(value, sign);
  if (format.isFnuz) {
    value =
        b.select(bits.equal(raw, signBit), bits.constant(0x7fc00000), value);
  }
  return bits.asFloat(value);
}

/// f64 to f32 rounded to odd: the last bit says that something was lost, so a
/// later rounding to fewer bits is right.
static Value roundToOdd(BodyBuilder &b, Value scalar) {
  Value nearest = b.create<arith::TruncFOp>(b.getF32Type(), scalar);
  Value back = b.create<arith::ExtFOp>(scalar.getType(), nearest);
  Bits bits{b};
  Value raw = bits.asBits(nearest);
  Value absBack = b.create<math::AbsFOp>(back),
        absScalar = b.create<math::AbsFOp>(scalar);
  Value grew =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, absBack, absScalar);
  Value exact =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::UEQ, back, scalar);
  Value toward =
      b.select(grew, b.create<arith::SubIOp>(raw, bits.constant(1)), raw);
  Value odd = bits.orOf(toward, bits.constant(1));
  return bits.asFloat(b.select(exact, raw, odd));
}

/// The nearest power of two (ties up); zero and subnormals give the lowest.
static Value narrowPowerOfTwo(BodyBuilder &b, Value scalar, bool saturate) {
  Bits bits{b};
  Value raw = bits.asBits(scalar);
  Value magnitude = bits.andOf(raw, 0x7fffffff);
  Value isNan = bits.above(magnitude, 0x7f800000);
  Value rounded = b.create<arith::AddIOp>(magnitude, bits.constant(0x00400000));
  Value exponent = bits.right(rounded, 23);
  exponent = b.select(bits.above(exponent, 254),
                      bits.constant(saturate ? 254 : 255), exponent);
  return b.select(isNan, bits.constant(255), exponent);
}

Value narrowSmallFloat(BodyBuilder &b, Value scalar, FloatType type,
                       bool saturate) {
  Format format = formatOf(type);
  Bits bits{b};
  if (scalar.getType().isF64()) {
    scalar = roundToOdd(b, scalar);
  }
  auto finish = [&](Value code) -> Value {
    Type integer = b.getIntegerType(format.width);
    return b.create<arith::BitcastOp>(type,
                                      b.create<arith::TruncIOp>(integer, code));
  };
  if (!format.hasSign) {
    return finish(narrowPowerOfTwo(b, scalar, saturate));
  }
  Value raw = bits.asBits(scalar);
  Value magnitude = bits.andOf(raw, 0x7fffffff);
  Value sign = bits.right(bits.andOf(raw, 0x80000000), 32 - format.width);
  Value isNan = bits.above(magnitude, 0x7f800000);

  // Normal results: round the fraction in place, then move the exponent.
  unsigned shift = 23 - format.mantissa;
  uint32_t half = (1u << (shift - 1)) - 1;
  Value lowBit = bits.andOf(bits.right(magnitude, shift), 1);
  Value rounded = b.create<arith::AddIOp>(
      b.create<arith::AddIOp>(magnitude, bits.constant(half)), lowBit);
  int rebias = (127 - format.bias) << format.mantissa;
  Value normal = b.create<arith::SubIOp>(bits.right(rounded, shift),
                                         bits.constant(rebias));
  // Subnormal results: adding a large power of two leaves the rounded multiple
  // of the spacing in the low bits.
  float spacing =
      std::ldexp(1.0f, 1 - format.bias - static_cast<int>(format.mantissa));
  float anchor = std::ldexp(spacing, 23);
  Value shifted = b.create<arith::AddFOp>(bits.asFloat(magnitude),
                                          b.constant(b.getF32Type(), anchor));
  Value subnormal = b.create<arith::SubIOp>(bits.asBits(shifted),
                                            bits.constant(floatBits(anchor)));
  float leastNormal = std::ldexp(1.0f, 1 - format.bias);
  Value isNormal = bits.above(magnitude, floatBits(leastNormal) - 1);
  Value code = b.select(isNormal, normal, subnormal);

  // Overflow: the code passed the largest finite one, or wrapped for huge
  // values.
  float largest = std::ldexp(
      1.0f + ((format.largest & ((1u << format.mantissa) - 1)) /
              static_cast<float>(1u << format.mantissa)),
      static_cast<int>(format.largest >> format.mantissa) - format.bias);
  Value isHuge = bits.above(magnitude, floatBits(largest * 2.0f));
  Value overflows = b.create<arith::OrIOp>(
      isHuge,
      b.create<arith::AndIOp>(isNormal, bits.above(code, format.largest)));
  uint32_t nanCode = format.isFnuz        ? (1u << (format.width - 1))
                     : format.hasInfinity ? 0x7e
                                          : 0x7f;
  uint32_t beyond = saturate || !format.hasNan ? format.largest
                    : format.hasInfinity       ? format.largest + 1
                                               : nanCode;
  code = b.select(overflows, bits.constant(beyond), code);
  if (format.isFnuz) {
    // There is no negative zero: its pattern is NaN.
    Value isZero = bits.equal(code, 0);
    Value signedCode = b.select(isZero, code, bits.orOf(code, sign));
    return finish(b.select(isNan, bits.constant(nanCode), signedCode));
  }
  // A format without NaN gets zero.
  code = b.select(isNan, bits.constant(format.hasNan ? nanCode : 0), code);
  return finish(bits.orOf(code, sign));
}

} // namespace tilewright::tw
