//===- ReadModel.h - from a file to a ModelProto ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include "onnx/onnx_pb.h"

#include <filesystem>
#include <memory>

namespace tilewright {

/// Reads and parses an ONNX file, and checks nothing else. Errors:
/// ModelUnreadable (missing, a folder, too large, no permission),
/// ModelMalformed (empty, truncated, another kind of file).
Result<std::unique_ptr<onnx::ModelProto>>
readModel(const std::filesystem::path &path);

} // namespace tilewright
