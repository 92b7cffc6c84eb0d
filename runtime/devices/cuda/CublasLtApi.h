//===- CublasLtApi.h - what is called of cuBLASLt ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// cuBLASLt's interface as far as it is used, so that nothing of it is needed
// to build. test/CublasLtApiTest.cpp holds it against NVIDIA's header.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewright::cublaslt {

using Handle = void *;
using MatmulDesc = void *;
using Layout = void *;
using Preference = void *;

/// cublasStatus_t
constexpr int success = 0, invalidValue = 7, notSupported = 15;

/// cublasComputeType_t
enum ComputeType : int {
  Compute32F = 68,
  Compute32FFastTf32 = 77,
  Compute32I = 72
};

/// cudaDataType_t
enum DataType : int {
  Real32F = 0,
  Real16F = 2,
  Real8I = 3,
  Real32I = 10,
  Real16BF = 14,
  Real8FE4M3 = 28,
  Real8FE5M2 = 29
};

/// cublasOperation_t
enum Operation : int { NotTransposed = 0, Transposed = 1 };

/// cublasLtMatmulDescAttributes_t
enum MatmulAttribute : int {
  TransposeA = 3,
  TransposeB = 4,
  EpilogueKind = 7,
  BiasPointer = 8,
  BiasType = 26
};

/// cublasLtEpilogue_t
enum Epilogue : int {
  NoEpilogue = 1,
  ReluEpilogue = 2,
  BiasEpilogue = 4, ///< may be joined to the others
  GeluEpilogue = 32
};

/// cublasLtMatrixLayoutAttribute_t
enum LayoutAttribute : int { BatchCount = 5, BatchStride = 6 };

/// cublasLtMatmulPreferenceAttributes_t
enum PreferenceAttribute : int {
  MaxWorkspaceBytes = 1,
  ReductionSchemes = 3,
  AlignmentA = 5,
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8
};

/// cublasLtReductionScheme_t, as a mask: partial sums in the type that is
/// computed in.
constexpr uint32_t reductionInComputeType = 2;

struct Algorithm {
  uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

using Stream = void *;

// Name behind "cublasLt", result, parameters.
#define TILEWRIGHT_CUBLASLT_FUNCTIONS(X)                                       \
  X(GetVersion, size_t, ())                                                    \
  X(Create, int, (Handle *))                                                   \
  X(Destroy, int, (Handle))                                                    \
  X(MatmulDescCreate, int, (MatmulDesc *, ComputeType, DataType))              \
  X(MatmulDescDestroy, int, (MatmulDesc))                                      \
  X(MatmulDescSetAttribute, int,                                               \
    (MatmulDesc, MatmulAttribute, const void *, size_t))                       \
  X(MatrixLayoutCreate, int,                                                   \
    (Layout *, DataType, uint64_t, uint64_t, int64_t))                         \
  X(MatrixLayoutDestroy, int, (Layout))                                        \
  X(MatrixLayoutSetAttribute, int,                                             \
    (Layout, LayoutAttribute, const void *, size_t))                           \
  X(MatmulPreferenceCreate, int, (Preference *))                               \
  X(MatmulPreferenceDestroy, int, (Preference))                                \
  X(MatmulPreferenceSetAttribute, int,                                         \
    (Preference, PreferenceAttribute, const void *, size_t))                   \
  X(MatmulAlgoGetHeuristic, int,                                               \
    (Handle, MatmulDesc, Layout, Layout, Layout, Layout, Preference, int,      \
     Heuristic *, int *))                                                      \
  X(Matmul, int,                                                               \
    (Handle, MatmulDesc, const void *, const void *, Layout, const void *,     \
     Layout, const void *, const void *, Layout, void *, Layout,               \
     const Algorithm *, void *, size_t, Stream))

/// The library's functions.
struct Library {
#define TILEWRIGHT_CUBLASLT_MEMBER(name, result, parameters)                   \
  result(*name) parameters = nullptr;
  TILEWRIGHT_CUBLASLT_FUNCTIONS(TILEWRIGHT_CUBLASLT_MEMBER)
#undef TILEWRIGHT_CUBLASLT_MEMBER
};

} // namespace tilewright::cublaslt
