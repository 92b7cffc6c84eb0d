//===- Expectation.h - what an output must be -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Tensor.h"
#include "tools/tilewright/data/Compare.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace tilewright::gpucheck {

/// Holds an output against {name, shape, values: FILE.npy} and, where only a
/// sample of its values is stored, {indices: FILE.npy, norm}: its L2 norm must
/// agree as well, and the difference of the sample must be small beside the
/// sample. \returns what is wrong, or "". Errors: those of readNpy().
Result<std::string> checkOutput(const TensorView &output,
                                const nlohmann::json &expected,
                                const Tolerance &tolerance,
                                const std::filesystem::path &folder);

} // namespace tilewright::gpucheck
