//===- Problem.h - a product as it was described ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The simulator plays cuBLASLt as well: products on the processor, in the order
// of streams, with the library's own rules for what it takes (cuBLAS
// documentation, "cublasLtMatmul()"). Matrices are column-major.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/CublasLtApi.h"
#include "targets/sim/driver/Context.h"

namespace tilewright::sim {

/// What a cublasLtMatrixLayout_t is.
struct MatrixLayout {
  cublaslt::DataType type = cublaslt::Real32F;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0; ///< elements from one column to the next
  int32_t batches = 1;
  int64_t batchStride = 0; ///< in elements
};

/// What a cublasLtMatmulDesc_t is.
struct MatmulDescription {
  cublaslt::ComputeType compute = cublaslt::Compute32F;
  cublaslt::DataType scale = cublaslt::Real32F;
  int transposeA = cublaslt::NotTransposed;
  int transposeB = cublaslt::NotTransposed;
  int epilogue = cublaslt::NoEpilogue;
  int biasType = -1; ///< -1: D's
  const void *bias = nullptr;
};

/// What a cublasLtMatmulPreference_t is.
struct MatmulPreference {
  uint64_t workspaceBytes = 0;
  uint32_t schemes = 7;
  uint32_t alignment[4] = {256, 256, 256, 256}; ///< of A, B, C and D
};

/// D = epilogue(alpha op(A) op(B) + beta C).
struct MatmulProblem {
  MatmulDescription description;
  MatrixLayout a, b, c, d;

  uint64_t depth() const {
    return description.transposeA == cublaslt::Transposed ? a.rows : a.columns;
  }
  /// \returns whether the sizes fit each other.
  bool isConsistent() const;
  /// \returns whether the library multiplies these types, shapes and
  /// alignments on that device.
  bool isSupported(const PlayedDevice &device,
                   const MatmulPreference &preference) const;
  /// Memory that the played algorithm wants beside the operands.
  uint64_t workspaceBytes() const;
  /// A number that other problems do not have.
  uint64_t fingerprint() const;
};

/// A product that streams may do, once or often.
struct Matmul {
  MatmulProblem problem;
  double alpha = 1, beta = 0;
  CUdeviceptr a = 0, b = 0, c = 0, d = 0, workspace = 0;
  std::string label;

  /// Computes it; an access to what is not there fails the context.
  void run(Context &context) const;
};

/// \returns the bytes of an element; 0 for types that are not known.
size_t bytesOf(cublaslt::DataType type);

} // namespace tilewright::sim
