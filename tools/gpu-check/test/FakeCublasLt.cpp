//===- FakeCublasLt.cpp - a cuBLASLt that computes on the processor -------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Products of f32, and of s8 into s32, in column-major order as cuBLASLt
// describes them. The simulator's driver, which the process has opened, copies
// the operands.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/CublasLtApi.h"

#include <cuda.h>
#include <dlfcn.h>
#include <vector>

using namespace tilewright::cublaslt;

namespace {

constexpr int notSupported = 15; // CUBLAS_STATUS_NOT_SUPPORTED

struct Product {
  ComputeType compute;
  int transposeA = NotTransposed, transposeB = NotTransposed;
};

struct Matrix {
  DataType type;
  uint64_t rows, columns;
  int64_t leading;

  size_t bytes() const {
    return static_cast<size_t>(leading) * columns * (type == Real8I ? 1 : 4);
  }
};

struct Wish {
  uint64_t workspaceBytes = 0;
};

/// A function of the simulator's driver.
template <typename Function> Function find(const char *name) {
  void *driver = dlopen("libtilewright-sim.so", RTLD_NOW | RTLD_NOLOAD);
  return driver ? reinterpret_cast<Function>(dlsym(driver, name)) : nullptr;
}

double at(const Matrix &matrix, const std::vector<char> &bytes, bool transposed,
          uint64_t row, uint64_t column) {
  if (transposed) {
    std::swap(row, column);
  }
  uint64_t index = row + column * static_cast<uint64_t>(matrix.leading);
  return matrix.type == Real8I
             ? static_cast<double>(
                   reinterpret_cast<const int8_t *>(bytes.data())[index])
             : static_cast<double>(
                   reinterpret_cast<const float *>(bytes.data())[index]);
}

bool isSupported(const Matrix &a, const Matrix &b, const Matrix &c) {
  return (a.type == Real32F && b.type == Real32F && c.type == Real32F) ||
         (a.type == Real8I && b.type == Real8I && c.type == Real32I);
}

} // namespace

extern "C" {

size_t cublasLtGetVersion() { return 130102; }

int cublasLtCreate(Handle *handle) {
  *handle = new int;
  return success;
}

int cublasLtDestroy(Handle handle) {
  delete static_cast<int *>(handle);
  return success;
}

int cublasLtMatmulDescCreate(MatmulDesc *product, ComputeType compute,
                             DataType) {
  *product = new Product{compute};
  return success;
}

int cublasLtMatmulDescDestroy(MatmulDesc product) {
  delete static_cast<Product *>(product);
  return success;
}

int cublasLtMatmulDescSetAttribute(MatmulDesc product, MatmulAttribute which,
                                   const void *value, size_t bytes) {
  if (bytes != sizeof(int)) {
    return notSupported;
  }
  auto &described = *static_cast<Product *>(product);
  (which == TransposeA ? described.transposeA : described.transposeB) =
      *static_cast<const int *>(value);
  return success;
}

int cublasLtMatrixLayoutCreate(Layout *layout, DataType type, uint64_t rows,
                               uint64_t columns, int64_t leading) {
  *layout = new Matrix{type, rows, columns, leading};
  return success;
}

int cublasLtMatrixLayoutDestroy(Layout layout) {
  delete static_cast<Matrix *>(layout);
  return success;
}

int cublasLtMatmulPreferenceCreate(Preference *preference) {
  *preference = new Wish;
  return success;
}

int cublasLtMatmulPreferenceDestroy(Preference preference) {
  delete static_cast<Wish *>(preference);
  return success;
}

int cublasLtMatmulPreferenceSetAttribute(Preference preference,
                                         PreferenceAttribute, const void *value,
                                         size_t) {
  static_cast<Wish *>(preference)->workspaceBytes =
      *static_cast<const uint64_t *>(value);
  return success;
}

int cublasLtMatmulAlgoGetHeuristic(Handle, MatmulDesc, Layout a, Layout b,
                                   Layout c, Layout, Preference, int wanted,
                                   Heuristic *results, int *found) {
  bool isKnown =
      isSupported(*static_cast<Matrix *>(a), *static_cast<Matrix *>(b),
                  *static_cast<Matrix *>(c));
  *found = isKnown && wanted > 0 ? 1 : 0;
  if (*found) {
    results[0] = {};
    results[0].algorithm.data[0] = 42;
  }
  return success;
}

int cublasLtMatmul(Handle, MatmulDesc product, const void *, const void *a,
                   Layout layoutA, const void *b, Layout layoutB, const void *,
                   const void *, Layout layoutC, void *d, Layout,
                   const Algorithm *algorithm, void *, size_t, Stream stream) {
  const auto &described = *static_cast<Product *>(product);
  const auto &ma = *static_cast<Matrix *>(layoutA),
             &mb = *static_cast<Matrix *>(layoutB),
             &mc = *static_cast<Matrix *>(layoutC);
  auto copyOut = find<decltype(&cuMemcpyDtoHAsync)>("cuMemcpyDtoHAsync_v2");
  auto copyIn = find<decltype(&cuMemcpyHtoDAsync)>("cuMemcpyHtoDAsync_v2");
  auto wait = find<decltype(&cuStreamSynchronize)>("cuStreamSynchronize");
  bool isA = described.transposeA == Transposed,
       isB = described.transposeB == Transposed;
  uint64_t depth = isA ? ma.rows : ma.columns;
  if (algorithm->data[0] != 42 || !copyOut || !copyIn || !wait ||
      depth != (isB ? mb.columns : mb.rows) ||
      mc.rows != (isA ? ma.columns : ma.rows) ||
      mc.columns != (isB ? mb.rows : mb.columns)) {
    return notSupported;
  }
  auto address = [](const void *data) {
    return reinterpret_cast<CUdeviceptr>(data);
  };
  auto queue = static_cast<CUstream>(stream);
  std::vector<char> bytesA(ma.bytes()), bytesB(mb.bytes()), bytesC(mc.bytes());
  copyOut(bytesA.data(), address(a), bytesA.size(), queue);
  copyOut(bytesB.data(), address(b), bytesB.size(), queue);
  wait(queue);
  for (uint64_t j = 0; j < mc.columns; ++j) {
    for (uint64_t i = 0; i < mc.rows; ++i) {
      double sum = 0;
      for (uint64_t k = 0; k < depth; ++k) {
        sum += at(ma, bytesA, isA, i, k) * at(mb, bytesB, isB, k, j);
      }
      uint64_t index = i + j * static_cast<uint64_t>(mc.leading);
      if (mc.type == Real32I) {
        reinterpret_cast<int32_t *>(bytesC.data())[index] =
            static_cast<int32_t>(sum);
      } else {
        reinterpret_cast<float *>(bytesC.data())[index] =
            static_cast<float>(sum);
      }
    }
  }
  copyIn(address(d), bytesC.data(), bytesC.size(), queue);
  wait(queue);
  return success;
}

} // extern "C"
