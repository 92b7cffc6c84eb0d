//===- CublasLtApiTest.cpp - our declarations beside NVIDIA's -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/CublasLtApi.h"

#include <cublasLt.h>
#include <gtest/gtest.h>

using namespace tilewright::cublaslt;

// Built where the header is installed.
static_assert(int(Compute32F) == int(CUBLAS_COMPUTE_32F));
static_assert(int(Compute32FFastTf32) == int(CUBLAS_COMPUTE_32F_FAST_TF32));
static_assert(int(Compute32I) == int(CUBLAS_COMPUTE_32I));
static_assert(int(Real32F) == int(CUDA_R_32F));
static_assert(int(Real16F) == int(CUDA_R_16F));
static_assert(int(Real16BF) == int(CUDA_R_16BF));
static_assert(int(Real8I) == int(CUDA_R_8I));
static_assert(int(Real32I) == int(CUDA_R_32I));
static_assert(int(Real8FE4M3) == int(CUDA_R_8F_E4M3));
static_assert(int(NotTransposed) == int(CUBLAS_OP_N));
static_assert(int(Transposed) == int(CUBLAS_OP_T));
static_assert(int(TransposeA) == int(CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(int(TransposeB) == int(CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(int(MaxWorkspaceBytes) ==
              int(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(success == int(CUBLAS_STATUS_SUCCESS));
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(Heuristic, workspaceBytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(Heuristic, state) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));

namespace {

/// How many parameters a function has.
template <typename Result, typename... Parameters>
constexpr size_t count(Result (*)(Parameters...)) {
  return sizeof...(Parameters);
}

} // namespace

TEST(CublasLtApi, FunctionsHaveAsManyParameters) {
#define TILEWRIGHT_CUBLASLT_COMPARE(name, result, parameters)                  \
  EXPECT_EQ(count(static_cast<decltype(Library::name)>(nullptr)),              \
            count(static_cast<decltype(&::cublasLt##name)>(nullptr)))          \
      << #name;
  TILEWRIGHT_CUBLASLT_FUNCTIONS(TILEWRIGHT_CUBLASLT_COMPARE)
#undef TILEWRIGHT_CUBLASLT_COMPARE
}
