//===- ExternalData.h - where a tensor's file data lies ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include "onnx/onnx_pb.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tilewright {

/// A tensor's external_data entries, read but not yet held against a file.
struct ExternalRange {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length; // absent: as many bytes as the tensor needs
};

/// \returns whether the data of `tensor` lies in another file.
bool isExternal(const onnx::TensorProto &tensor);

/// Reads the entries of `tensor`. Errors: ExternalData when they are no
/// numbers, or the location is not a path inside the model's folder by its
/// text alone (absolute, with "..", empty).
Result<ExternalRange> externalRange(const onnx::TensorProto &tensor);

/// \returns the file that `range` means, every symbolic link followed, after
/// making sure that it lies in `folder`. Opens nothing. Errors: ExternalData.
Result<std::filesystem::path>
resolveExternal(const onnx::TensorProto &tensor, const ExternalRange &range,
                const std::filesystem::path &folder);

/// Holds `range` against the file's size and the bytes that the tensor needs.
/// Errors: ExternalData.
Status checkExternalRange(const onnx::TensorProto &tensor,
                          const ExternalRange &range, uint64_t fileSize,
                          uint64_t needed);

} // namespace tilewright
