//===- ElementTypes.h - ONNX's element types as MLIR types ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TensorTypes.h"
#include "tilewright/Status.h"

#include "onnx/onnx_pb.h"

namespace tilewright::frontend {

/// \returns the element type for ONNX's TensorProto::DataType `type`; null for
/// strings, complex numbers and numbers that are no type.
mlir::Type elementTypeFromOnnx(mlir::MLIRContext *context, int32_t type);

/// \returns ONNX's number for an element type; UNDEFINED if it has none.
int32_t onnxElementType(mlir::Type element);

/// \returns the tensor's type in ONNX's form, for the bodies of functions that
/// depend on the types of their operands. Symbolic sizes are left open.
onnx::TypeProto onnxTypeOf(mlir::Type tensor);

} // namespace tilewright::frontend
