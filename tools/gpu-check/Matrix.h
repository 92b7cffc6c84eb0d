//===- Matrix.h - products of matrices and their reference ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Tensor.h"

#include <nlohmann/json.hpp>
#include <string>

namespace tilewright::gpucheck {

/// c[m, n] = a[m, k] b, where b is [k, n], or [n, k] when it is transposed. All
/// are row-major.
struct MatrixProduct {
  int64_t m = 0, n = 0, k = 0;
  bool transposedB = false;
  DType operand = DType::F32;
  bool tf32 = false; ///< factors of f32 may lose mantissa

  /// Reads {type: "f32", "tf32", "f16", "bf16", "s8" or "e4m3", m, n, k,
  /// layout: "nn" or "nt"}. Error: OptionInvalid.
  static Result<MatrixProduct> parse(const nlohmann::json &entry);

  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

/// What happens to a product: activation(product + bias + residual).
struct FusedEpilogue {
  enum Activation { None, Relu, Gelu };
  Activation activation = None;
  const TensorView *bias = nullptr;     ///< [n]
  const TensorView *residual = nullptr; ///< [m, n]
};

/// Fills a tensor with seeded numbers: floats of [-1, 1), 8-bit integers of
/// their whole range. Error: OutOfMemory.
Result<Tensor> seeded(DType type, std::vector<int64_t> shape, uint64_t seed);

/// Computes a sample of the product's elements in double precision and holds
/// them against `c`. \returns what is wrong, or "".
std::string checkProduct(const MatrixProduct &product, const TensorView &a,
                         const TensorView &b, const TensorView &c,
                         const FusedEpilogue &epilogue = {});

} // namespace tilewright::gpucheck
