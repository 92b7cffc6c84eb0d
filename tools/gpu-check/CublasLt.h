//===- CublasLt.h - products of matrices by cuBLASLt ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/gpu-check/CublasLtApi.h"
#include "tools/gpu-check/Matrix.h"
#include "tools/gpu-check/Session.h"

#include <memory>

namespace tilewright::gpucheck {

/// NVIDIA's library of matrix products, opened at run time.
class CublasLt {
public:
  /// Opens TILEWRIGHT_CUBLASLT_LIBRARY, or libcublasLt.so.13 or .12 where the
  /// system or a CUDA toolkit has it. Error: DeviceUnsupported, with the
  /// reason.
  static Result<std::unique_ptr<CublasLt>> open(const Session &session);
  ~CublasLt();

  /// \returns "13.1.0".
  std::string version() const;

  /// Computes a product with the library's own choice of algorithm, as often
  /// as `runs` says, the operands copied anew before each. \returns the least
  /// milliseconds of one; the product is in `c`. Errors: DeviceUnsupported
  /// where the library has no algorithm, DeviceMemory, DeviceFault.
  Result<double> multiply(const MatrixProduct &product, const Tensor &a,
                          const Tensor &b, Tensor &c, int runs);

private:
  explicit CublasLt(const Session &session) : session(session) {}
  const Session &session;
  cublaslt::Library library;
  cublaslt::Handle handle = nullptr;
};

} // namespace tilewright::gpucheck
