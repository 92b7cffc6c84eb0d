//===- CublasLtApiTest.cpp - our declarations beside NVIDIA's -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/CublasLtApi.h"

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
static_assert(int(Real8FE5M2) == int(CUDA_R_8F_E5M2));
static_assert(int(NotTransposed) == int(CUBLAS_OP_N));
static_assert(int(Transposed) == int(CUBLAS_OP_T));
static_assert(int(TransposeA) == int(CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(int(TransposeB) == int(CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(int(EpilogueKind) == int(CUBLASLT_MATMUL_DESC_EPILOGUE));
static_assert(int(BiasPointer) == int(CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(int(BiasType) == int(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE));
static_assert(int(NoEpilogue) == int(CUBLASLT_EPILOGUE_DEFAULT));
static_assert(int(ReluEpilogue) == int(CUBLASLT_EPILOGUE_RELU));
static_assert(int(BiasEpilogue) == int(CUBLASLT_EPILOGUE_BIAS));
static_assert(int(ReluEpilogue | BiasEpilogue) ==
              int(CUBLASLT_EPILOGUE_RELU_BIAS));
static_assert(int(GeluEpilogue) == int(CUBLASLT_EPILOGUE_GELU));
static_assert(int(GeluEpilogue | BiasEpilogue) ==
              int(CUBLASLT_EPILOGUE_GELU_BIAS));
static_assert(int(BatchCount) == int(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
static_assert(int(BatchStride) ==
              int(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
static_assert(int(MaxWorkspaceBytes) ==
              int(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(int(ReductionSchemes) ==
              int(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK));
static_assert(int(AlignmentA) ==
              int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
static_assert(int(AlignmentB) ==
              int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
static_assert(int(AlignmentC) ==
              int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
static_assert(int(AlignmentD) ==
              int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
static_assert(int(reductionInComputeType) ==
              int(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
static_assert(success == int(CUBLAS_STATUS_SUCCESS));
static_assert(invalidValue == int(CUBLAS_STATUS_INVALID_VALUE));
static_assert(notSupported == int(CUBLAS_STATUS_NOT_SUPPORTED));
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
