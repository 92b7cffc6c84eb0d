//===- TensorData.h - the elements of a TensorProto -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/model/Model.h"

namespace tilewright {

/// \returns how many elements `tensor` declares. Errors: ConstantInvalid when
/// a size is negative or the product is too large for any memory.
Result<uint64_t> elementCount(const onnx::TensorProto &tensor);

/// \returns how many bytes the raw or external data of `tensor` must have
/// (4-bit elements packed, two in a byte). Errors: those of elementCount(),
/// TypeMismatch for an unknown element type.
Result<uint64_t> storedBytes(const onnx::TensorProto &tensor);

/// Holds the data in `tensor` (raw_data, or the field of its type) against its
/// type and sizes; external data is not looked at. Errors: ConstantInvalid,
/// TypeMismatch, UnsupportedType.
Status checkTensorData(const onnx::TensorProto &tensor);

/// \returns the elements of `tensor`, which has passed checkTensorData(), from
/// `stored`: its external data, or null for data inside the TensorProto.
Result<ConstantBytes> tensorData(const onnx::TensorProto &tensor,
                                 const std::byte *stored);

} // namespace tilewright
