//===- RangeReduction.cpp - remainders modulo π/2 -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Arguments below 2^27 are reduced in all lanes by Cody and Waite's method,
// with π/2 in four parts. If any lane is larger, a loop goes over the lanes and
// reduces the large ones as Payne and Hanek do: the fraction of x·2/π is
// computed from those bits of 2/π that matter, as a product of integers.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/math/Functions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <limits>

using namespace mlir;

namespace tilewright {

namespace {
const double largeArgument = 0x1p27;
const double infinity = std::numeric_limits<double>::infinity();

/// 64 zero bits, then the binary digits of 2/π.
const uint64_t twoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

/// \returns a pointer to the table, which becomes a constant of the module.
Value tableAddress(LaneMath &math) {
  const char name[] = "two_over_pi";
  OpBuilder &builder = math.builder;
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    ArrayRef<uint64_t> words(twoOverPi);
    auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), words.size());
    auto shape = RankedTensorType::get(static_cast<int64_t>(words.size()),
                                       builder.getI64Type());
    global = LLVM::GlobalOp::create(
        builder, math.loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
        name, DenseElementsAttr::get(shape, words));
  }
  return LLVM::AddressOfOp::create(builder, math.loc, global);
}

Lane loadWord(LaneMath &math, Value table, Lane index) {
  Type i64 = math.builder.getI64Type();
  Value address =
      LLVM::GEPOp::create(math.builder, math.loc, table.getType(), i64, table,
                          ArrayRef<LLVM::GEPArg>{index.value});
  return math.wrap(LLVM::LoadOp::create(math.builder, math.loc, i64, address));
}

/// 64 bits of `high`:`low` from bit `shift` (0 to 63) on.
Lane funnel(Lane high, Lane low, Lane shift) {
  Lane left = shiftLeft(high, shift);
  Lane opposite = subInt(shift.math->constantInt(shift, 63), shift);
  Lane right = shiftRightUnsigned(shiftRightUnsigned(low, 1), opposite);
  return orInt(left, right);
}

/// x·2/π modulo 4 as an integer of 128 bits, times 2^126, for a scalar |x| ≥ 1.
Lane scaledQuadrant(Lane x) {
  LaneMath &math = *x.math;
  Lane bits = bitsOf(x);
  // x = M·2^e. A digit of 2/π of weight 2^−j contributes M·2^(e−j), which is a
  // multiple of 4 for j < e − 1: begin there, at bit j − 1 + 64 of the table.
  Lane exponentField = andInt(shiftRightUnsigned(bits, 52), 0x7ff);
  Lane position = addInt(exponentField, -1075 + 62);
  Lane mantissa = orInt(andInt(bits, 0xfffffffffffff), 0x10000000000000);
  Lane index = shiftRightUnsigned(position, 6);
  Lane shift = andInt(position, 63);

  Value table = tableAddress(math);
  Lane words[4];
  for (int i = 0; i < 4; ++i) {
    words[i] = loadWord(math, table, addInt(index, i));
  }
  // M·W modulo 2^192, of which the upper 128 bits are kept.
  Lane wide = extendUnsigned(mantissa, 128);
  Lane products[3];
  for (int i = 0; i < 3; ++i) {
    Lane word = extendUnsigned(funnel(words[i], words[i + 1], shift), 128);
    products[i] = mulInt(wide, word);
  }
  Lane middle = addInt(products[1], shiftRightUnsigned(products[2], 64));
  return addInt(shiftLeft(products[0], 64), middle);
}

/// The reduction of one large finite scalar.
Reduced reduceLarge(Lane x) {
  LaneMath &math = *x.math;
  Type f64 = math.builder.getF64Type();
  Lane scaled = scaledQuadrant(x);
  Lane quadrant = truncateInt(shiftRightUnsigned(scaled, 126), 64);
  // The fraction, in [−½, ½), times 2^128: its sign bit carries into the
  // quadrant.
  Lane fraction = shiftLeft(scaled, 2);
  Lane isNegative = compareInt(arith::CmpIPredicate::slt, fraction, 0);
  quadrant = addInt(quadrant, extendUnsigned(isNegative, 64));
  Lane magnitude = select(
      isNegative, subInt(math.constantInt(fraction, 0), fraction), fraction);
  // To floating point by the 63 leading bits: a 128-bit conversion is a library
  // call.
  Lane zeros = math.wrap(math::CountLeadingZerosOp::create(
      math.builder, math.loc, magnitude.value));
  // No double is a multiple of π/2, so there is a one.
  zeros = math.wrap(arith::MinUIOp::create(math.builder, math.loc, zeros.value,
                                           math.constantInt(zeros, 127).value));
  Lane leading = shiftRightUnsigned(shiftLeft(magnitude, zeros), 65);
  Lane exponent =
      subInt(math.constantInt(quadrant, -63), truncateInt(zeros, 64));
  Lane r =
      signedToFloat(truncateInt(leading, 64), f64) * powerOfTwo(exponent, f64);
  r = r * 1.5707963267948966;

  // Both signs: of the fraction and of x.
  Lane isXNegative = x < 0.0;
  Lane flips = xorInt(isNegative, isXNegative);
  Lane negated = subInt(math.constantInt(quadrant, 0), quadrant);
  return {select(flips, -r, r), select(isXNegative, negated, quadrant)};
}

/// Replaces the results of those lanes that are large.
Reduced reduceLargeLanes(LaneMath &math, Lane x, Reduced small) {
  OpBuilder &builder = math.builder;
  Location loc = math.loc;
  auto vector = dyn_cast<VectorType>(x.value.getType());
  if (!vector) {
    return reduceLarge(x);
  }
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value lanes =
      arith::ConstantIndexOp::create(builder, loc, vector.getNumElements());
  auto loop = scf::ForOp::create(
      builder, loc, zero, lanes, one,
      ValueRange{small.remainder.value, small.quadrant.value});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value index = loop.getInductionVar();
    auto at = [&](Value from) {
      return math.wrap(
          vector::ExtractOp::create(builder, loc, from, OpFoldResult(index)));
    };
    Value remainders = loop.getRegionIterArg(0),
          quadrants = loop.getRegionIterArg(1);
    Lane lane = at(x.value);
    Lane isLarge = abs(lane) >= largeArgument;
    isLarge = isLarge && (abs(lane) < infinity);
    // Small lanes go through the arithmetic as some large number.
    Reduced reduced = reduceLarge(select(isLarge, lane, largeArgument));
    Lane remainder = select(isLarge, reduced.remainder, at(remainders));
    Lane quadrant = select(isLarge, reduced.quadrant, at(quadrants));
    Value newRemainders = vector::InsertOp::create(
        builder, loc, remainder.value, remainders, OpFoldResult(index));
    Value newQuadrants = vector::InsertOp::create(
        builder, loc, quadrant.value, quadrants, OpFoldResult(index));
    scf::YieldOp::create(builder, loc, ValueRange{newRemainders, newQuadrants});
  }
  return {math.wrap(loop.getResult(0)), math.wrap(loop.getResult(1))};
}

/// Cody and Waite: the first three parts of π/2 have 26 bits, so that their
/// products with n < 2^27 are exact.
Reduced reduceSmall(Lane x) {
  Rounded n = roundToInt(x * 0.6366197723675814);
  Lane r = mulAdd(n.asFloat, -0x1.921fb5p+0, x);
  r = mulAdd(n.asFloat, -0x1.110b46p-26, r);
  r = mulAdd(n.asFloat, -0x1.1a6263p-54, r);
  r = mulAdd(n.asFloat, -0x1.8a2e03707344ap-81, r);
  return {r, n.asInt};
}
} // namespace

Reduced reduceByHalfPi(Lane x) {
  LaneMath &math = *x.math;
  Reduced small = reduceSmall(x);
  Lane magnitude = abs(x);
  Lane isLarge = magnitude >= largeArgument;
  isLarge = isLarge && (magnitude < infinity);
  auto branch = scf::IfOp::create(math.builder, math.loc,
                                  TypeRange{small.remainder.value.getType(),
                                            small.quadrant.value.getType()},
                                  anyLane(isLarge), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(math.builder);
  math.builder.setInsertionPointToStart(branch.thenBlock());
  Reduced large = reduceLargeLanes(math, x, small);
  scf::YieldOp::create(math.builder, math.loc,
                       ValueRange{large.remainder.value, large.quadrant.value});
  math.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(math.builder, math.loc,
                       ValueRange{small.remainder.value, small.quadrant.value});
  return {math.wrap(branch.getResult(0)), math.wrap(branch.getResult(1))};
}

} // namespace tilewright
