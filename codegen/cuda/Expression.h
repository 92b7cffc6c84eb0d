//===- Expression.h - pieces of C++ text ------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace tilewright::cuda {

/// C++'s precedence, from what binds tightest.
enum Precedence {
  Primary,
  Unary,
  Multiplicative,
  Additive,
  Shift,
  Relational,
  Equality,
  BitAnd,
  BitXor,
  BitOr,
  LogicalAnd,
  LogicalOr,
  Conditional
};

/// An expression as text.
struct Expression {
  std::string text;
  Precedence precedence = Primary;
  bool readsMemory = false; ///< it must not move across a write
  /// The expression before it was turned into its own type, which a declaration
  /// does anyway; empty: the text.
  std::string unconverted = {};

  /// \returns the text, in parentheses if it binds less tightly than `most`.
  std::string within(Precedence most) const {
    return precedence > most ? "(" + text + ")" : text;
  }
};

/// \returns the C++ type of a scalar or vector of a kernel: `index`, `float`,
/// `Vec<float, 4>`.
std::string typeName(mlir::Type type);
/// The unsigned type of an integer's or index's width.
std::string unsignedTypeName(mlir::Type type);
/// What a buffer of `element` is declared with.
std::string storageName(mlir::Type element);

/// \returns true for f16 and bf16, which are 16 bits until they are extended.
bool isSmallFloat(mlir::Type type);

/// \returns a literal. `isArgument`: 64-bit integers carry their suffix, so
/// that overloaded functions take them.
Expression literal(mlir::TypedAttr value, bool isArgument = false);

} // namespace tilewright::cuda
