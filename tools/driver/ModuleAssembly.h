//===- ModuleAssembly.h - plan, code and constants in one file --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cuda/CompileCuda.h"
#include "passes/plan/PlanBuilder.h"
#include "targets/TargetSpec.h"
#include <cstddef>

namespace tilewright {

/// The parts of a module for one CPU level or GPU.
struct ModuleParts {
  plan::BuiltPlan *plan = nullptr;
  llvm::ArrayRef<uint8_t> code;    // the image; empty when no kernel is needed
  llvm::ArrayRef<CudaKernel> cuda; // of a GPU, those that the plan launches
  const TargetSpec *target = nullptr;
  std::string modelName;
  std::string decisions; // JSON
  std::string summary;   // JSON
};

/// \returns the bytes of the module file.
Result<std::vector<std::byte>> assembleModule(ModuleParts parts);

/// \returns the decision log as JSON: a list of {code, refused, message, nodes,
/// numbers}.
std::string toJson(const DecisionLog &log);

} // namespace tilewright
