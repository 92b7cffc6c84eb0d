//===- TimedModule.h - one run's result and its kernels' times --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/gpu-check/Session.h"

#include <filesystem>

namespace tilewright::gpucheck {

/// What runs of a module with one output gave.
struct TimedRun {
  Tensor output;
  nlohmann::json figures; ///< {ms, tflops, kernels}; empty on the simulator
  uint64_t libraryCalls = 0;
  std::string libraryRefusal; ///< why the library did not do what it should
};

/// Opens and runs a module, then times its kernels. `operations` is what one
/// run computes. Errors: those of Module and Context; ModuleDamaged when it has
/// another number of outputs.
Result<TimedRun> runTimed(const Session &session,
                          const std::filesystem::path &module,
                          const std::vector<TensorView> &inputs,
                          double operations);

/// How often a product is timed.
constexpr unsigned tableRuns = 8;

} // namespace tilewright::gpucheck
