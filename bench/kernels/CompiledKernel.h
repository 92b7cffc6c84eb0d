//===- CompiledKernel.h - a workload, ready to run --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "bench/kernels/Workloads.h"
#include "targets/TargetSpec.h"
#include "tilewright/Context.h"

namespace tilewright::bench {

/// A workload compiled for a target, with inputs.
class CompiledKernel {
public:
  /// Errors: those of the compiler and of the runtime; OptionInvalid where the
  /// workload's text is no model.
  static Result<CompiledKernel>
  create(const Workload &workload, const TargetSpec &target, unsigned threads);

  /// Runs once.
  Status run();
  /// \returns the kernels of one run.
  uint64_t launches() const { return context->statistics().launches; }

private:
  std::unique_ptr<Context> context;
  std::vector<Tensor> inputs;
  std::vector<TensorView> views;
};

} // namespace tilewright::bench
