//===- Traffic.h - bytes that kernels move --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What fusion saves: the bytes that kernels read and write when every ONNX node
// is one, and when every region is. Both are counted in the same way: a kernel
// reads of each tensor what it needs, once, and writes each result that others
// read. Symbolic sizes count as one; a loop's body counts once; nodes that
// depend on constants alone, reshapes and sizes cost nothing.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "runtime/format/module_generated.h"
#include <cstdint>

namespace tilewright {

struct Traffic {
  int64_t kernels = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;

  int64_t bytes() const { return bytesRead + bytesWritten; }
};

/// \returns the traffic of an imported module, every ONNX node a kernel.
Traffic trafficOfNodes(mlir::ModuleOp imported);

/// \returns the traffic of a module's regions and builtins.
Traffic trafficOfRegions(mlir::ModuleOp tiled);

/// \returns the bytes that a plan's copies read and write.
int64_t bytesCopied(const format::PlanT &plan);

/// \returns the value of every expression of a plan with each symbol one.
std::vector<int64_t> sizesOfOnes(const format::PlanT &plan);

} // namespace tilewright
