//===- TensorTypes.h - tensor types with symbolic dims ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/DimExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tilewright/DType.h"
#include <optional>

namespace tilewright::tw {

/// \returns `tensor<…xelement>` with the given sizes; the `#tw.dims` encoding
/// is there exactly when some size is not a constant.
mlir::RankedTensorType tensorType(llvm::ArrayRef<DimExpr> dims,
                                  mlir::Type element);

/// \returns the sizes of a tensor type's axes. A dynamic axis of a type without
/// encoding (hand-written IR) has a null DimExpr.
llvm::SmallVector<DimExpr> dimsOf(mlir::Type tensor);

/// \returns the product of a tensor's sizes.
DimExpr elementCount(mlir::Type tensor);

/// \returns the element type of a tensor.
mlir::Type elementTypeOf(mlir::Type tensor);

/// \returns the type that a scalar of this element type has inside a body:
/// unsigned integers become signless, everything else stays.
mlir::Type scalarType(mlir::Type element);

/// \returns true for ui8 … ui64 (and ui2, ui4).
bool isUnsigned(mlir::Type element);

/// \returns the float type in which arithmetic on `element` is done: f32 for
/// smaller floats, the type itself for f32 and f64.
mlir::Type computeType(mlir::Type element);

/// \returns the type as DType, nullopt if it has none.
std::optional<DType> dtypeOf(mlir::Type element);
/// \returns the element type for a DType; null for strings and complex numbers.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);

} // namespace tilewright::tw
