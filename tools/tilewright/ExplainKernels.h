//===- ExplainKernels.h - a GPU's kernels, by ONNX node ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/module/ModuleFile.h"

#include <nlohmann/json.hpp>

namespace tilewright {

/// \returns an entry for each launch of the module's plans for GPUs, in the
/// form of the decision log: {code: "kernel", refused, message, nodes,
/// numbers: {registers, spill_bytes, shared_bytes, threads, traffic_bytes}}.
/// Registers and spills are those of a thread, shared memory and threads those
/// of a block; traffic is what operands and results take, with every symbolic
/// size 1. Nothing for a processor's code. Errors: those of verifyPlan().
Result<nlohmann::json> explainKernels(const ModuleFile &file);

} // namespace tilewright
