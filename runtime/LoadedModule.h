//===- LoadedModule.h - a module ready to run -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What a Module holds. Tools that look into modules may read it too.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Kernel.h"
#include "runtime/Memory.h"
#include "runtime/module/CodeImage.h"
#include "runtime/module/ModuleFile.h"
#include "runtime/module/PlanVerifier.h"
#include "tilewright/Module.h"

namespace tilewright {

struct LoadedConstant {
  const char *data = nullptr;
  uint64_t bytes = 0;
};

struct LoadedModule {
  explicit LoadedModule(ModuleFile file) : file(std::move(file)) {}

  ModuleFile file;
  CodeImage image;
  VerifiedPlan verified;
  CpuLevel level = CpuLevel::V2;
  std::vector<KernelFunction> kernels; ///< one per name in the plan
  std::vector<LoadedConstant> constants;
  std::vector<Block> guardedConstants; ///< copies, when memory is guarded
  std::vector<Parameter> inputs;
  std::vector<Parameter> outputs;
  std::string name;
  std::string compiler;
  std::string summary;
  std::string decisions;

  const format::PlanT &plan() const { return *verified.plan; }
};

} // namespace tilewright
