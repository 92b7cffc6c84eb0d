//===- Gelu.h - recognising GELU by its arithmetic --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Value.h"

namespace tilewright::library {

/// \returns x if the scalar `y` is the GELU of x by its tanh formula,
/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel,
/// arXiv:1606.08415), in whatever order its terms are computed; else null.
mlir::Value geluArgument(mlir::Value y);

} // namespace tilewright::library
