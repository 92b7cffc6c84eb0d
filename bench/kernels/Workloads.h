//===- Workloads.h - models of single operators -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "bench/kernels/Shapes.h"

namespace tilewright::bench {

/// A model of one operator, and the work of one run of it.
struct Workload {
  std::string text; // the model, in ONNX's textual form
  /// Inputs that become constants with values of their own.
  std::vector<std::string> constants;
  /// Multiply-adds count as two; 0 where memory is the limit.
  double flops = 0;
  /// Compulsory traffic: one read of each input, one write of each output.
  double bytes = 0;
  /// How many long streams are read, and whether one is written.
  unsigned streams = 1;
  bool writes = true;

  bool isComputeBound() const { return flops > 0; }
};

/// \returns the workload of a shape, by its family: contract, conv, attention
/// (measured in flops); depthwise, pointwise, softmax, norm, reduce, movement
/// (in bytes). Errors: OptionInvalid.
Result<Workload> makeWorkload(const Shape &shape);

} // namespace tilewright::bench
