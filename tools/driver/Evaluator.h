//===- Evaluator.h - folding constants by running them ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "passes/normalize/ConstantEvaluator.h"

namespace tilewright {

/// Compiles a function for the lowest CPU level through fuse, tile, plan and
/// codegen, and runs it with the runtime.
class Evaluator : public ConstantEvaluator {
public:
  explicit Evaluator(unsigned threads) : threads(threads) {}

  Result<std::vector<std::vector<char>>>
  evaluate(mlir::func::FuncOp function) override;

private:
  unsigned threads;
};

} // namespace tilewright
