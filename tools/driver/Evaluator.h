//===- Evaluator.h - folding constants by running them ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cpu/ObjectCache.h"
#include "passes/normalize/ConstantEvaluator.h"

namespace tilewright {

/// Compiles a function for the lowest CPU level through fuse, tile, plan and
/// codegen, and runs it with the runtime.
class Evaluator : public ConstantEvaluator {
public:
  /// `objects`: of earlier compiles, or null.
  Evaluator(unsigned threads, ObjectCache *objects)
      : threads(threads), objects(objects) {}

  Result<std::vector<std::vector<char>>>
  evaluate(mlir::func::FuncOp function) override;

private:
  unsigned threads;
  ObjectCache *objects;
};

} // namespace tilewright
