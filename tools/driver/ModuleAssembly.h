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

/// The code for one CPU level or GPU.
struct VariantParts {
  plan::BuiltPlan *plan = nullptr;
  llvm::ArrayRef<uint8_t> code;    // the image; empty when no kernel is needed
  llvm::ArrayRef<CudaKernel> cuda; // of a GPU, those that the plan launches
  const TargetSpec *target = nullptr;
};

/// The parts of a module.
struct ModuleParts {
  /// At least one; all of them plan the same function, with the same constants.
  std::vector<VariantParts> variants;
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
