//===- Common.h - what import functions share -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Checks of operands, element-wise maps with broadcasting, and axes. Errors
// name the node, what was expected and what was found.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright::frontend {

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
using tw::BodyBuilder;
using tw::FoldKind;

inline bool isFloat(Type element) {
  return llvm::isa<mlir::FloatType>(element);
}
inline bool isBool(Type element) { return element.isInteger(1); }
/// Integers, bool not included.
inline bool isInteger(Type element) {
  return llvm::isa<mlir::IntegerType>(element) && !isBool(element);
}

/// "f32", "ui8", …, as errors say it.
std::string textOf(Type element);
/// "[N, 3, 224]".
std::string textOf(ArrayRef<DimExpr> dims);

//===--- Checks -----------------------------------------------------------===//
// All of them also fail when the input is left out.

Status requireFloat(NodeImport &node, size_t i);
Status requireBool(NodeImport &node, size_t i);
Status requireInteger(NodeImport &node, size_t i);
/// A float or an integer, not a bool.
Status requireNumber(NodeImport &node, size_t i);
Status requireRank(NodeImport &node, size_t i, size_t rank);
Status requireRankAtLeast(NodeImport &node, size_t i, size_t rank);
/// The first `count` inputs (those that are there) have one element type.
Status requireSameElement(NodeImport &node, size_t count);
/// The sizes are not two different constants.
bool mayBeEqual(DimExpr a, DimExpr b);
/// The input has exactly these dims, as far as they are known; `what` names it.
Status requireDims(NodeImport &node, size_t i, llvm::StringRef what,
                   ArrayRef<DimExpr> dims);

//===--- Element-wise -----------------------------------------------------===//

using ScalarBody = llvm::function_ref<Value(BodyBuilder &, ValueRange scalars)>;

/// `body` over `operands`, which broadcast; scalars as in buildElementwise.
Result<Value> broadcastMap(NodeImport &node, ArrayRef<Value> operands,
                           Type element, ScalarBody body);

/// Sets output 0 to `body` over input 0, of the input's element type.
Status mapInput(NodeImport &node, ScalarBody body);

/// The second operand of a binary operator, reshaped where opset 6's `axis`
/// says which axes of the first one it belongs to.
Result<Value> secondOperand(NodeImport &node);

/// A cast of all elements, as BodyBuilder::cast has it.
Value castTensor(NodeImport &node, Value tensor, Type element);

//===--- Sizes and coordinates --------------------------------------------===//

/// A constant list of axes from input `i` (if it is there), else from the
/// attribute `axes`, normalised for `rank` and free of duplicates; nullopt
/// when neither is there.
Result<std::optional<SmallVector<int64_t>>>
constantAxes(NodeImport &node, std::optional<size_t> i, int64_t rank);

/// A coordinate or size (`index`) as a scalar of `type` (float or integer).
Value toScalar(BodyBuilder &body, Value index, Type type);

} // namespace tilewright::frontend
