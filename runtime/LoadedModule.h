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
#include "runtime/module/GpuArchitecture.h"
#include "runtime/module/ModuleFile.h"
#include "runtime/module/PlanVerifier.h"
#include "tilewright/Module.h"

#include <string_view>

namespace tilewright {

struct LoadedConstant {
  const char *data = nullptr;
  uint64_t bytes = 0;
};

/// A kernel for CUDA; views of the file, empty where it has none.
struct LoadedDeviceKernel {
  std::string_view cubin;
  std::string_view ptx;
};

/// A plan with the code of its kernels.
struct LoadedVariant {
  VerifiedPlan verified;

  // For the processor.
  CodeImage image;
  std::vector<KernelFunction> kernels; ///< one per name in the plan

  // For a GPU.
  GpuArchitecture architecture;
  std::vector<LoadedDeviceKernel> deviceKernels; ///< one per name in the plan

  const format::PlanT &plan() const { return *verified.plan; }
};

struct LoadedModule {
  explicit LoadedModule(ModuleFile file) : file(std::move(file)) {}

  ModuleFile file;
  DeviceKind device = DeviceKind::Cpu;
  CpuLevel level = CpuLevel::V2; ///< of the variant for the processor
  std::string architecture;      ///< that the simulator plays
  /// For the processor one; for a GPU those that may run on it, the best first.
  std::vector<LoadedVariant> variants;
  std::vector<LoadedConstant> constants;
  std::vector<Block> guardedConstants; ///< copies, when memory is guarded
  std::vector<Parameter> inputs;
  std::vector<Parameter> outputs;
  std::string name;
  std::string compiler;
  std::string summary;
  std::string decisions;
};

} // namespace tilewright
