//===- Expectations.h - outputs beside expected ones ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Module.h"
#include "tools/tilewright/data/Bindings.h"
#include "tools/tilewright/data/Compare.h"

#include <nlohmann/json.hpp>

namespace tilewright {

/// \returns the number of the output `name`. Errors: OutputName.
Result<size_t> findOutput(const Module &module, const std::string &name);

/// Compares outputs with files. \returns for each {name, agrees, message,
/// largest_difference}; another type or shape does not agree. Errors:
/// OutputName, InputUnreadable, OutOfMemory.
Result<nlohmann::json> checkExpectations(const Module &module,
                                         const std::vector<Tensor> &outputs,
                                         const std::vector<FileBinding> &files,
                                         const Tolerance &tolerance);

} // namespace tilewright
