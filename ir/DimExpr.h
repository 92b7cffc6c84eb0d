//===- DimExpr.h - size expressions -----------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A size is an integer expression over named symbols ("batch", "u0"). All
// symbols are non-negative. Expressions are uniqued in the MLIR context and
// kept in a canonical form: a sum of products of atoms, where an atom is a
// symbol, a rounded division, a remainder, a minimum, a maximum or a
// selection. Equal sizes that differ only by algebra compare equal.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace tilewright::tw {

class SizeAttr;

/// A size expression: a cheap value, equal when canonically equal.
class DimExpr {
public:
  /// The node kinds; the order is the canonical order of operands.
  enum class Kind : int64_t {
    Const,
    Symbol,
    Add,      // two or more terms, at most one constant, which comes last
    Mul,      // an optional constant coefficient first, then atoms
    FloorDiv, // rounds toward minus infinity
    Mod,      // a - b * (a floordiv b)
    Min,
    Max,
    Select // operands c, a, b: c != 0 ? a : b
  };

  DimExpr() = default;
  explicit DimExpr(mlir::Attribute attribute) : attribute(attribute) {}

  static DimExpr constant(mlir::MLIRContext *context, int64_t value);
  static DimExpr symbol(mlir::MLIRContext *context, llvm::StringRef name);

  explicit operator bool() const { return static_cast<bool>(attribute); }
  bool operator==(DimExpr other) const { return attribute == other.attribute; }
  bool operator!=(DimExpr other) const { return attribute != other.attribute; }

  mlir::Attribute getAttribute() const { return attribute; }
  mlir::MLIRContext *getContext() const { return attribute.getContext(); }
  Kind kind() const;
  /// \returns the value of a constant.
  std::optional<int64_t> getConstant() const;
  bool isConstant(int64_t value) const { return getConstant() == value; }
  /// \returns the name of a symbol, empty for other kinds.
  llvm::StringRef symbolName() const;
  llvm::SmallVector<DimExpr, 4> operands() const;

  DimExpr operator+(DimExpr other) const;
  DimExpr operator-(DimExpr other) const;
  DimExpr operator*(DimExpr other) const;
  DimExpr operator+(int64_t other) const {
    return *this + constant(getContext(), other);
  }
  DimExpr operator-(int64_t other) const {
    return *this - constant(getContext(), other);
  }
  DimExpr operator*(int64_t other) const {
    return *this * constant(getContext(), other);
  }
  /// Rounded division; a division by zero is zero.
  DimExpr floorDiv(DimExpr divisor) const;
  DimExpr floorDiv(int64_t divisor) const {
    return floorDiv(constant(getContext(), divisor));
  }
  /// \pre `divisor` is positive.
  DimExpr ceilDiv(DimExpr divisor) const;
  DimExpr ceilDiv(int64_t divisor) const {
    return ceilDiv(constant(getContext(), divisor));
  }
  DimExpr mod(DimExpr divisor) const;
  DimExpr min(DimExpr other) const;
  DimExpr max(DimExpr other) const;
  static DimExpr select(DimExpr condition, DimExpr ifNonZero, DimExpr ifZero);

  /// \returns true if the expression is provably at least zero.
  bool isNonNegative() const;
  /// \returns `*this / divisor` if the division is provably exact.
  std::optional<DimExpr> exactDiv(DimExpr divisor) const;

  /// Replaces every symbol by what `replacement` gives for its name; a null
  /// DimExpr keeps the symbol.
  DimExpr
  substitute(llvm::function_ref<DimExpr(llvm::StringRef)> replacement) const;
  /// Calls `visit` with the name of every symbol, possibly more than once.
  void forEachSymbol(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// Evaluates with the given symbol values; nullopt if one is missing.
  std::optional<int64_t> evaluate(
      llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> values) const;

  /// \returns the expression as text that parses again.
  std::string toString() const;

private:
  mlir::Attribute attribute;
};

/// The product of `dims`, one for an empty list.
DimExpr productOf(mlir::MLIRContext *context, llvm::ArrayRef<DimExpr> dims);

} // namespace tilewright::tw

namespace llvm {
template <> struct DenseMapInfo<tilewright::tw::DimExpr> {
  using DimExpr = tilewright::tw::DimExpr;
  using Base = DenseMapInfo<mlir::Attribute>;
  static DimExpr getEmptyKey() { return DimExpr(Base::getEmptyKey()); }
  static DimExpr getTombstoneKey() { return DimExpr(Base::getTombstoneKey()); }
  static unsigned getHashValue(DimExpr e) {
    return Base::getHashValue(e.getAttribute());
  }
  static bool isEqual(DimExpr a, DimExpr b) { return a == b; }
};
} // namespace llvm
