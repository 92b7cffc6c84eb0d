//===- IndexMath.h - arithmetic on places ------------------------*- C++
//-*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/emit/Lanes.h"
#include "llvm/Support/MathExtras.h"

namespace tilewright::families {

/// Index values that are not negative, such as numbers of threads and their
/// places in tiles. Constants fold; powers of two are shifts and masks.
class IndexMath {
public:
  using Value = mlir::Value;

  explicit IndexMath(LaneBuilder &b) : b(b) {}

  Value constant(int64_t value) { return b.constantIndex(value); }
  Value plus(Value x, Value y) {
    return b.createOrFold<mlir::arith::AddIOp>(x, y);
  }
  Value plus(Value x, int64_t y) { return plus(x, constant(y)); }
  Value minus(Value x, Value y) {
    return b.createOrFold<mlir::arith::SubIOp>(x, y);
  }
  Value times(Value x, Value y) {
    return b.createOrFold<mlir::arith::MulIOp>(x, y);
  }
  Value times(Value x, int64_t y) { return times(x, constant(y)); }
  Value over(Value x, Value y) {
    return b.createOrFold<mlir::arith::DivUIOp>(x, y);
  }
  Value over(Value x, int64_t y) {
    return llvm::isPowerOf2_64(y) ? b.createOrFold<mlir::arith::ShRSIOp>(
                                        x, constant(llvm::Log2_64(y)))
                                  : over(x, constant(y));
  }
  Value mod(Value x, Value y) {
    return b.createOrFold<mlir::arith::RemUIOp>(x, y);
  }
  Value mod(Value x, int64_t y) {
    return llvm::isPowerOf2_64(y)
               ? b.createOrFold<mlir::arith::AndIOp>(x, constant(y - 1))
               : mod(x, constant(y));
  }
  /// The quotient, rounded up.
  Value parts(Value x, int64_t y) { return over(plus(x, y - 1), y); }
  Value isLess(Value x, Value y) {
    return b.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::slt,
                                               x, y);
  }
  Value isMultiple(Value x, int64_t of) {
    return b.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq,
                                               mod(x, of), constant(0));
  }
  /// Null values are true.
  Value both(Value x, Value y) {
    return !x ? y : !y ? x : b.createOrFold<mlir::arith::AndIOp>(x, y);
  }

private:
  LaneBuilder &b;
};

} // namespace tilewright::families
