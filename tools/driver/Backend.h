//===- Backend.h - from regions to a module file ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cpu/CompileKernels.h"
#include "codegen/cuda/CompileCuda.h"
#include "passes/plan/PlanBuilder.h"
#include "passes/tile/Tactic.h"

#include <filesystem>

namespace tilewright {

/// What plan and codegen make of a module.
struct BackendResult {
  plan::BuiltPlan plan;
  CpuImage image; // no bytes when there is no kernel
};

struct BackendOptions {
  const TargetSpec *target = nullptr;
  const TacticRegistry *tactics = nullptr;
  unsigned threads = 2;
  bool keepDenormals = false;     ///< kernels compute with denormal numbers
  ObjectCache *objects = nullptr; ///< of earlier compiles, or null
  /// GPU: folder of kernels of earlier compiles; empty: none.
  std::filesystem::path objectFolder;
  /// Folder that gets each kernel as KERNEL.mlir, .ll and .s, for a GPU as
  /// .mlir, .cu and .ptx; empty: none.
  std::string kernelFolder;
  /// GPU: sources in place of generated ones, by kernel.
  std::map<std::string, std::string> kernelSources;
};

/// Plans `module`, whose regions have tactics. \returns the plan; its kernels
/// are not compiled yet: they are in `kernels`, an empty module at first.
Result<plan::BuiltPlan> planModule(mlir::ModuleOp module,
                                   mlir::ModuleOp kernels,
                                   const BackendOptions &options,
                                   DecisionLog *log);

/// Compiles the kernels that planModule left. \returns an image without bytes
/// when there are none.
Result<CpuImage> compilePlanned(mlir::ModuleOp kernels,
                                const BackendOptions &options);

/// The same for a GPU, with what the user's cache keeps of NVRTC's work. Where
/// a kernel spills registers, the regions of `module` that have it get another
/// tile, and `planned` and `kernels` are made again. `planLog` is the plan's.
/// Errors: those of compileCuda.
Result<std::vector<CudaKernel>>
compilePlannedCuda(mlir::ModuleOp module, mlir::ModuleOp kernels,
                   plan::BuiltPlan &planned, const BackendOptions &options,
                   DecisionLog &log, DecisionLog &planLog);

/// Plan and codegen in one, for a CPU.
Result<BackendResult> generateCode(mlir::ModuleOp module,
                                   const BackendOptions &options,
                                   DecisionLog *log);

} // namespace tilewright
