//===- SimtRegion.h - regions on the simulated GPU in tests -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cuda/CompileCuda.h"
#include "ir/TwOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/tile/Tactic.h"
#include "targets/sim/Counters.h"
#include "targets/sim/DeviceMemory.h"
#include "targets/sim/Program.h"
#include <gtest/gtest.h>
#include <map>

namespace tilewright::test {

/// \returns false without NVRTC, which tests are skipped for.
bool hasCudaCompiler();

/// The first tw.fused of a module, compiled for a GPU.
class SimtRegion {
public:
  using Symbols = std::map<std::string, int64_t>;

  /// \param text the module. A conversion `arith.extf` of an 8-bit float in it
  /// becomes what bodies do instead.
  /// \param parameters in place of those that the tactic would choose, which
  /// are others when its first choice spills.
  /// \returns null after a failure of the test.
  static std::unique_ptr<SimtRegion>
  compile(const std::string &text, const TargetSpec &target,
          std::function<mlir::DictionaryAttr(mlir::MLIRContext *)> parameters =
              nullptr);

  /// Runs the kernel with all checks on; a finding is a failure. `buffers` are
  /// inputs, then outputs. \returns the status word.
  int run(std::vector<std::vector<uint8_t>> &buffers, size_t outputs,
          const Symbols &symbols = {});

  std::string tactic;
  mlir::DictionaryAttr parameters; ///< of the tactic
  CudaKernel kernel;
  sim::Counters counters; ///< of the last run
  Launch launch;

private:
  bool build(tw::FusedOp region, const TargetSpec &target);

  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::shared_ptr<const sim::Program> program;
  unsigned computeCapability = 80;
};

} // namespace tilewright::test
