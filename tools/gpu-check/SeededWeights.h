//===- SeededWeights.h - weights that need not be carried along -*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The weights of a large model do not fit into a bundle. A module runs as well,
// and as fast, with seeded numbers in their place, whose mean and deviation are
// the weights' own, so that values stay in range from layer to layer. What such
// a module computes means nothing, but it can be computed elsewhere as well.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/module/ModuleFile.h"

#include <nlohmann/json.hpp>

namespace tilewright::gpucheck {

/// \returns [{constant, mean, deviation}] of the module's large constants of
/// f32
nlohmann::json describeWeights(const ModuleFile &file);

enum class Weights { Seeded, Zero };

/// \returns a module like `file` whose constants in `weights`, as
/// describeWeights() has them, are seeded numbers, or zeros, which pack well.
/// Errors: InputUnreadable for weights that are not this module's, Internal,
/// OutOfMemory.
Result<std::vector<std::byte>> replaceWeights(const ModuleFile &file,
                                              const nlohmann::json &weights,
                                              Weights kind);

} // namespace tilewright::gpucheck
