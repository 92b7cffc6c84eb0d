//===- ConstantEvaluator.h - running constant subgraphs ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tilewright/Status.h"
#include <vector>

namespace tilewright {

/// Folding constants means compiling and running them; the compiler's driver
/// implements this with its own pipeline, at the lowest CPU level and with a
/// naive schedule, so that the bytes do not depend on the machine.
class ConstantEvaluator {
public:
  virtual ~ConstantEvaluator() = default;

  /// Runs a function without arguments whose results all have static shapes.
  /// \returns the bytes of each result.
  virtual Result<std::vector<std::vector<char>>>
  evaluate(mlir::func::FuncOp function) = 0;
};

} // namespace tilewright
