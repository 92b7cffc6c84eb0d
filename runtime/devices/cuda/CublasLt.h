//===- CublasLt.h - products of matrices by cuBLASLt ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// NVIDIA's library of matrix products, opened at run time. The simulator has
// its functions too, so that what a plan asks of the library is checked without
// a GPU.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/CublasLtApi.h"
#include "runtime/devices/cuda/Gpu.h"
#include "tilewright/DType.h"

namespace tilewright {

/// What happens to the sums of a product before they are stored.
enum class ProductActivation { None, Relu, Gelu };

/// D = activation(alpha A B + C + bias) for each batch, in row-major order: A
/// is [m, k], B is [k, n], C and D are [m, n], and bias has n elements of D's
/// type.
struct ProductShape {
  /// Elements from one stored row to the next, and from batch to batch.
  struct Matrix {
    DType dtype = DType::F32;
    int64_t row = 0, batch = 0;
    bool operator==(const Matrix &other) const {
      return dtype == other.dtype && row == other.row && batch == other.batch;
    }
  };
  Matrix a, b, c, d;
  int64_t batches = 1, m = 0, n = 0, k = 0;
  bool transposedA = false, transposedB = false; ///< stored as [k, m], [n, k]
  bool hasC = false, hasBias = false;
  bool tf32 = false; ///< factors of f32 may lose mantissa
  ProductActivation activation = ProductActivation::None;
  float alpha = 1;

  bool operator==(const ProductShape &other) const;
};

/// Where the matrices of a product lie in the GPU's memory, at multiples of 16
/// bytes.
struct ProductOperands {
  const void *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr;
  void *d = nullptr;
};

class CublasLt;

/// A product with the algorithm that the library has chosen for it.
class LibraryProduct {
public:
  LibraryProduct(LibraryProduct &&other) noexcept { swap(other); }
  LibraryProduct &operator=(LibraryProduct &&other) noexcept {
    swap(other);
    return *this;
  }
  ~LibraryProduct();

  const ProductShape &shape() const { return described; }
  /// Memory that a run needs beside the operands.
  int64_t workspaceBytes() const {
    return static_cast<int64_t>(heuristic.workspaceBytes);
  }

  /// Puts the product on a stream. Error: DeviceUnsupported; nothing has been
  /// put on the stream then.
  Status run(const ProductOperands &operands, void *workspace,
             CUstream stream) const;

private:
  friend class CublasLt;
  LibraryProduct(const CublasLt &owner, const ProductShape &shape)
      : owner(&owner), described(shape) {}
  Status describe();
  Status choose();
  void swap(LibraryProduct &other);

  const CublasLt *owner = nullptr;
  ProductShape described;
  cublaslt::MatmulDesc product = nullptr;
  /// Of the column-major product that the library sees.
  cublaslt::Layout first = nullptr, second = nullptr, sums = nullptr,
                   added = nullptr;
  cublaslt::Heuristic heuristic = {};
};

/// The library with a handle on one GPU.
class CublasLt {
public:
  /// Opens TILEWRIGHT_CUBLASLT_LIBRARY, or libcublasLt.so.13 or .12 where the
  /// system or a CUDA toolkit has it; for a simulated GPU the simulator.
  /// Error: DeviceUnsupported, with the reason.
  static Result<std::unique_ptr<CublasLt>> open(std::shared_ptr<const Gpu> gpu);
  ~CublasLt();

  /// \returns "13.1.0".
  std::string version() const;

  /// Asks the library for its algorithm. The result must not outlive this.
  /// Error: DeviceUnsupported where it has none.
  Result<LibraryProduct> prepare(const ProductShape &shape) const;

private:
  friend class LibraryProduct;
  explicit CublasLt(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}

  std::shared_ptr<const Gpu> gpu;
  cublaslt::Library library;
  cublaslt::Handle handle = nullptr;
};

} // namespace tilewright
