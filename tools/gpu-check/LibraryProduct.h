//===- LibraryProduct.h - cuBLASLt beside the kernels -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/CublasLt.h"
#include "tools/gpu-check/Matrix.h"
#include "tools/gpu-check/Session.h"

namespace tilewright::gpucheck {

/// Computes a product by the library, as often as `runs` says, the operands
/// copied anew before each. \returns the least milliseconds of one; the product
/// is in `c`. Errors: DeviceUnsupported where the library has no algorithm,
/// DeviceMemory, DeviceFault.
Result<double> multiplyByLibrary(const Session &session,
                                 const CublasLt &library,
                                 const MatrixProduct &product, const Tensor &a,
                                 const Tensor &b, Tensor &c, int runs);

} // namespace tilewright::gpucheck
