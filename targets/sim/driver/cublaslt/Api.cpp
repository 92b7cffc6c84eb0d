//===- Api.cpp - the functions of cuBLASLt --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/CublasLtApi.h"
#include "targets/sim/driver/Launch.h"
#include "targets/sim/driver/cublaslt/Problem.h"

#include <cstring>

using namespace tilewright::cublaslt;
using namespace tilewright::sim;

// The version whose rules Problem.cpp has.
static constexpr size_t version = 130000;

static constexpr int executionFailed = 13; // CUBLAS_STATUS_EXECUTION_FAILED
static constexpr int notInitialized = 1;   // CUBLAS_STATUS_NOT_INITIALIZED

/// Copies an attribute of the size that it must have.
template <typename T>
static int set(T &attribute, const void *value, size_t bytes) {
  if (!value || bytes != sizeof attribute) {
    return invalidValue;
  }
  std::memcpy(&attribute, value, bytes);
  return success;
}

template <typename T, typename... Fields>
static int create(void **object, Fields... fields) {
  if (!object) {
    return invalidValue;
  }
  *object = new T{fields...};
  return success;
}

template <typename T> static int destroy(void *object) {
  delete static_cast<T *>(object);
  return success;
}

static MatmulProblem problemOf(MatmulDesc product, Layout a, Layout b, Layout c,
                               Layout d) {
  return {*static_cast<MatmulDescription *>(product),
          *static_cast<MatrixLayout *>(a), *static_cast<MatrixLayout *>(b),
          *static_cast<MatrixLayout *>(c), *static_cast<MatrixLayout *>(d)};
}

#pragma GCC visibility push(default)
extern "C" {

size_t cublasLtGetVersion() { return version; }

int cublasLtCreate(Handle *handle) {
  return currentContext ? create<int>(handle) : notInitialized;
}
int cublasLtDestroy(Handle handle) { return destroy<int>(handle); }

int cublasLtMatmulDescCreate(MatmulDesc *product, ComputeType compute,
                             DataType scale) {
  return create<MatmulDescription>(product, compute, scale);
}
int cublasLtMatmulDescDestroy(MatmulDesc product) {
  return destroy<MatmulDescription>(product);
}

int cublasLtMatmulDescSetAttribute(MatmulDesc handle, MatmulAttribute which,
                                   const void *value, size_t bytes) {
  auto &product = *static_cast<MatmulDescription *>(handle);
  switch (which) {
  case TransposeA:
    return set(product.transposeA, value, bytes);
  case TransposeB:
    return set(product.transposeB, value, bytes);
  case EpilogueKind:
    return set(product.epilogue, value, bytes);
  case BiasPointer:
    return set(product.bias, value, bytes);
  case BiasType:
    return set(product.biasType, value, bytes);
  }
  return invalidValue;
}

int cublasLtMatrixLayoutCreate(Layout *layout, DataType type, uint64_t rows,
                               uint64_t columns, int64_t leading) {
  return create<MatrixLayout>(layout, type, rows, columns, leading);
}
int cublasLtMatrixLayoutDestroy(Layout layout) {
  return destroy<MatrixLayout>(layout);
}

int cublasLtMatrixLayoutSetAttribute(Layout handle, LayoutAttribute which,
                                     const void *value, size_t bytes) {
  auto &layout = *static_cast<MatrixLayout *>(handle);
  switch (which) {
  case BatchCount:
    return set(layout.batches, value, bytes);
  case BatchStride:
    return set(layout.batchStride, value, bytes);
  }
  return invalidValue;
}

int cublasLtMatmulPreferenceCreate(Preference *preference) {
  return create<MatmulPreference>(preference);
}
int cublasLtMatmulPreferenceDestroy(Preference preference) {
  return destroy<MatmulPreference>(preference);
}

int cublasLtMatmulPreferenceSetAttribute(Preference handle,
                                         PreferenceAttribute which,
                                         const void *value, size_t bytes) {
  auto &preference = *static_cast<MatmulPreference *>(handle);
  switch (which) {
  case MaxWorkspaceBytes:
    return set(preference.workspaceBytes, value, bytes);
  case ReductionSchemes:
    return set(preference.schemes, value, bytes);
  case AlignmentA:
  case AlignmentB:
  case AlignmentC:
  case AlignmentD:
    return set(preference.alignment[which - AlignmentA], value, bytes);
  }
  return invalidValue;
}

int cublasLtMatmulAlgoGetHeuristic(Handle, MatmulDesc product, Layout a,
                                   Layout b, Layout c, Layout d,
                                   Preference preference, int wanted,
                                   Heuristic *results, int *found) {
  *found = 0;
  MatmulProblem problem = problemOf(product, a, b, c, d);
  const auto &wish = *static_cast<MatmulPreference *>(preference);
  if (!currentContext || wanted < 1 || !problem.isConsistent()) {
    return invalidValue;
  }
  if (!problem.isSupported(*currentContext->device, wish) ||
      problem.workspaceBytes() > wish.workspaceBytes) {
    return notSupported;
  }
  results[0] = {};
  results[0].algorithm.data[0] = problem.fingerprint();
  std::memcpy(&results[0].algorithm.data[1], wish.alignment,
              sizeof wish.alignment);
  results[0].workspaceBytes = problem.workspaceBytes();
  *found = 1;
  return success;
}

int cublasLtMatmul(Handle, MatmulDesc product, const void *alpha, const void *a,
                   Layout layoutA, const void *b, Layout layoutB,
                   const void *beta, const void *c, Layout layoutC, void *d,
                   Layout layoutD, const Algorithm *algorithm, void *workspace,
                   size_t workspaceBytes, tilewright::cublaslt::Stream stream) {
  auto matmul = std::make_shared<Matmul>();
  matmul->problem = problemOf(product, layoutA, layoutB, layoutC, layoutD);
  matmul->label = std::move(launchLabel);
  launchLabel.clear();
  auto factor = [&](const void *at) -> double {
    return matmul->problem.description.scale == Real32I
               ? *static_cast<const int32_t *>(at)
               : double(*static_cast<const float *>(at));
  };
  matmul->alpha = factor(alpha);
  matmul->beta = factor(beta);
  const void *pointers[] = {a, b, c, d};
  CUdeviceptr *places[] = {&matmul->a, &matmul->b, &matmul->c, &matmul->d};
  uint32_t alignment[4];
  std::memcpy(alignment, &algorithm->data[1], sizeof alignment);
  bool isGood = algorithm->data[0] == matmul->problem.fingerprint() &&
                workspaceBytes >= matmul->problem.workspaceBytes();
  for (unsigned i = 0; i < 4; ++i) {
    *places[i] = reinterpret_cast<CUdeviceptr>(pointers[i]);
    isGood = isGood && alignment[i] > 0 && *places[i] % alignment[i] == 0;
  }
  matmul->workspace = reinterpret_cast<CUdeviceptr>(workspace);
  if (!isGood) {
    return invalidValue;
  }
  CUresult result = withContext([&](Context &context) -> CUresult {
    return context.submit(context.stream(static_cast<CUstream>(stream)),
                          [&context, matmul] { matmul->run(context); });
  });
  return result == CUDA_SUCCESS ? success : executionFailed;
}

} // extern "C"
#pragma GCC visibility pop
