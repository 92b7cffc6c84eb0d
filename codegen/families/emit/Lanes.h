//===- Lanes.h - a scalar of a body across vector lanes ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A kernel evaluates a scalar body for `width` neighbouring elements at once.
// Each scalar of the body becomes Lanes: the same in all lanes, a coordinate
// that grows from lane to lane, or a vector. Coordinates stay coordinates
// through index arithmetic, so that loads see contiguous accesses.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::families {

struct Lanes {
  enum class Kind {
    Uniform, ///< the same in every lane
    Linear,  ///< an index: lane k has `value + offset + k * stride`
    Vector   ///< `value` is a vector
  };

  Kind kind = Kind::Uniform;
  /// A scalar or a vector. For a Uniform or Linear index it is the part that is
  /// not constant, null for zero.
  mlir::Value value;
  bool isIndex = false;
  int64_t offset = 0;      ///< of a Uniform or Linear index
  int64_t stride = 0;      ///< of Linear, unless `strideValue`
  mlir::Value strideValue; ///< a stride known at run time only
  int64_t alignment =
      1; ///< `value` is a multiple of this; 0 when value is null

  static Lanes scalar(mlir::Value value);
  static Lanes vector(mlir::Value value);
  static Lanes index(int64_t constant);
  static Lanes index(mlir::Value base, int64_t alignment = 1);
  /// A coordinate that steps by one from lane to lane.
  static Lanes coordinate(mlir::Value base, int64_t alignment);

  bool isUniform() const { return kind == Kind::Uniform; }
  bool isLinear() const { return kind == Kind::Linear; }
  bool isVector() const { return kind == Kind::Vector; }
  bool isConstantIndex() const { return isUniform() && isIndex && !value; }
  /// \returns what a Linear or Uniform index is known to be a multiple of in
  /// lane 0; 0 for the constant zero.
  int64_t firstAlignment() const;
  bool operator==(const Lanes &other) const;
};

/// Writes arithmetic on Lanes.
class LaneBuilder : public mlir::ImplicitLocOpBuilder {
public:
  LaneBuilder(mlir::Location loc, mlir::OpBuilder &builder, int64_t width)
      : ImplicitLocOpBuilder(loc, builder), width(width) {}

  /// The number of lanes of a vector; 1 when there is no vector coordinate.
  int64_t getWidth() const { return width; }
  void setWidth(int64_t lanes) { width = lanes; }

  mlir::Value constantIndex(int64_t value);
  /// Gives the result of an operation a name for people. \returns it.
  mlir::Value named(llvm::StringRef name, mlir::Value value);
  /// The scalar of Uniform lanes, or of lane 0 of a Linear index.
  mlir::Value first(const Lanes &lanes);
  /// All lanes as a vector.
  mlir::Value asVector(const Lanes &lanes);
  /// `scalar` in every lane.
  mlir::Value splat(mlir::Value scalar);
  mlir::VectorType vectorOf(mlir::Type scalar) {
    return mlir::VectorType::get({width}, scalar);
  }

  // Index arithmetic; Vector operands give a Vector.
  Lanes add(const Lanes &a, const Lanes &b);
  Lanes sub(const Lanes &a, const Lanes &b);
  Lanes mul(const Lanes &a, const Lanes &b);
  /// Rounds toward minus infinity; a divisor of zero gives an unspecified
  /// value.
  Lanes floorDiv(const Lanes &a, const Lanes &b);
  /// The remainder of floorDiv.
  Lanes mod(const Lanes &a, const Lanes &b);
  Lanes min(const Lanes &a, const Lanes &b);
  Lanes max(const Lanes &a, const Lanes &b);

private:
  Lanes vectorBinary(llvm::StringRef op, const Lanes &a, const Lanes &b);

  int64_t width;
};

} // namespace tilewright::families
