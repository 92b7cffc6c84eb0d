//===- MatrixFunctions.cpp - matrix units and asynchronous copies ---------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/DeviceFunctions.h"

namespace tilewright::cuda {

namespace {

struct Function {
  const char *name;
  const char *definition;
};

/// A product of fragments, by the type of the factors.
struct Product {
  const char *name;
  const char *element;     ///< of the fragments
  int a, b;                ///< elements in the fragments
  const char *accumulator; ///< its C++ type
  const char *constraint;  ///< of inline assembly
  const char *instruction; ///< after `mma.sync.aligned.`
};

} // namespace

static constexpr const char *words =
    R"(// The registers that a fragment lies in.
template <typename T, int N> __device__ const unsigned *words(const Vec<T, N> &v) {
  return reinterpret_cast<const unsigned *>(v.at);
}

)";

static constexpr const char *sharedAddress =
    R"(__device__ unsigned sharedAddress(const void *at) {
  return unsigned(__cvta_generic_to_shared(at));
}

)";

static constexpr Function loads[] = {
    {"loadMatrices",
     R"(// 8x8 matrices of 16 bits: each lane gives the address of a row.
template <int N, typename T>
__device__ Vec<T, 4 * N / sizeof(T)> loadMatrices(const T *row) {
  static_assert(N == 2 || N == 4, "");
  Vec<T, 4 * N / sizeof(T)> v;
  unsigned *w = reinterpret_cast<unsigned *>(v.at);
  if constexpr (N == 4) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(sharedAddress(row)) : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(w[0]), "=r"(w[1]) : "r"(sharedAddress(row)) : "memory");
  }
  return v;
}

)"},
    {"loadMatricesTransposed",
     R"(// The same, each matrix transposed.
template <int N, typename T>
__device__ Vec<T, 4 * N / sizeof(T)> loadMatricesTransposed(const T *row) {
  static_assert(N == 2 || N == 4, "");
  Vec<T, 4 * N / sizeof(T)> v;
  unsigned *w = reinterpret_cast<unsigned *>(v.at);
  if constexpr (N == 4) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(sharedAddress(row)) : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(w[0]), "=r"(w[1]) : "r"(sharedAddress(row)) : "memory");
  }
  return v;
}

)"},
    {"storeShared",
     R"(// One access of 8 or 16 bytes, which the compiler might divide.
template <typename T, int N> __device__ void storeShared(T *to, const Vec<T, N> &v) {
  const unsigned *w = words(v);
  if constexpr (N * sizeof(T) == 16) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                 :: "r"(sharedAddress(to)), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
  } else {
    static_assert(N * sizeof(T) == 8, "");
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};"
                 :: "r"(sharedAddress(to)), "r"(w[0]), "r"(w[1]) : "memory");
  }
}

)"},
    {"copyAsync",
     R"(// Fills 16 bytes of shared memory in the background: `count` elements, then zeros.
template <typename T> __device__ void copyAsync(T *to, const T *from, i64 count) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(sharedAddress(to)), "l"(from), "r"(int(count * sizeof(T))) : "memory");
}

)"},
    {"copyWordAsync",
     R"(// The same for 4 bytes: one element or zero.
template <typename T> __device__ void copyWordAsync(T *to, const T *from, i64 count) {
  static_assert(sizeof(T) == 4, "");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(sharedAddress(to)), "l"(from), "r"(int(count * sizeof(T))) : "memory");
}

)"},
};

static constexpr Function others[] = {
    {"storeGlobal",
     R"(// One access of 8 or 16 bytes, which the compiler might divide.
template <typename T, int N> __device__ void storeGlobal(T *to, const Vec<T, N> &v) {
  const unsigned *w = words(v);
  if constexpr (N * sizeof(T) == 16) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                 :: "l"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
  } else {
    static_assert(N * sizeof(T) == 8, "");
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" :: "l"(to), "r"(w[0]), "r"(w[1]) : "memory");
  }
}

)"},
    {"part",
     R"(// N elements of a vector.
template <int First, int N, typename T, int All>
__device__ Vec<T, N> part(const Vec<T, All> &v) {
  Vec<T, N> result;
  unsigned *to = reinterpret_cast<unsigned *>(result.at);
  const unsigned *from = words(v) + First * sizeof(T) / 4;
  for (int i = 0; i < N * sizeof(T) / 4; ++i) {
    to[i] = from[i];
  }
  return result;
}

)"},
    {"commitCopies",
     R"(// The copies since the last call become a group.
__device__ void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

)"},
    {"waitForCopies",
     R"(// Until all but the last N groups of this thread have arrived.
template <int N> __device__ void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

)"},
};

static constexpr const char *toTf32 =
    R"(// Rounded to the nearest number with 10 bits of mantissa.
__device__ unsigned toTf32(unsigned bits) {
  unsigned result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(__uint_as_float(bits)));
  return result;
}

)";

static constexpr Product products[] = {
    {"mmaF16", "f16", 8, 4, "float", "f", "m16n8k16.row.col.f32.f16.f16.f32"},
    {"mmaBf16", "bf16", 8, 4, "float", "f",
     "m16n8k16.row.col.f32.bf16.bf16.f32"},
    {"mmaTf32", "float", 4, 2, "float", "f",
     "m16n8k8.row.col.f32.tf32.tf32.f32"},
    {"mmaS8S8", "i8", 16, 8, "int", "r", "m16n8k32.row.col.s32.s8.s8.s32"},
    {"mmaS8U8", "i8", 16, 8, "int", "r", "m16n8k32.row.col.s32.s8.u8.s32"},
    {"mmaU8S8", "i8", 16, 8, "int", "r", "m16n8k32.row.col.s32.u8.s8.s32"},
    {"mmaU8U8", "i8", 16, 8, "int", "r", "m16n8k32.row.col.s32.u8.u8.s32"},
    {"mmaE4m3E4m3", "i8", 16, 8, "float", "f",
     "m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {"mmaE4m3E5m2", "i8", 16, 8, "float", "f",
     "m16n8k32.row.col.f32.e4m3.e5m2.f32"},
    {"mmaE5m2E4m3", "i8", 16, 8, "float", "f",
     "m16n8k32.row.col.f32.e5m2.e4m3.f32"},
    {"mmaE5m2E5m2", "i8", 16, 8, "float", "f",
     "m16n8k32.row.col.f32.e5m2.e5m2.f32"},
};

static std::string definitionOf(const Product &product, bool isTf32) {
  std::string element = product.element, sum = product.accumulator;
  auto fragment = [&](int count) {
    return "Vec<" + element + ", " + std::to_string(count) + ">";
  };
  std::string result = "Vec<" + sum + ", 4>";
  std::string text = "// c + a * b: 16 rows, 8 columns, 32 bytes of depth.\n";
  text += "__device__ " + result + " " + product.name + "(const " +
          fragment(product.a) + " &a, const " + fragment(product.b) + " &b, " +
          result + " c) {\n";
  text += "  const unsigned *x = words(a), *y = words(b);\n";
  text += "  asm(\"mma.sync.aligned." + std::string(product.instruction) +
          " {%0, %1, %2, %3}, \"\n"
          "      \"{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n      : ";
  for (int i = 0; i < 4; ++i) {
    text += std::string(i ? ", " : "") + "\"+" + product.constraint +
            "\"(c.at[" + std::to_string(i) + "])";
  }
  text += "\n      : ";
  for (int i = 0; i < 6; ++i) {
    std::string word = i < 4 ? "x[" + std::to_string(i) + "]"
                             : "y[" + std::to_string(i - 4) + "]";
    text += (i ? ", " : "") + std::string("\"r\"(") +
            (isTf32 ? "toTf32(" + word + ")" : word) + ")";
  }
  return text + ");\n  return c;\n}\n\n";
}

std::string matrixFunctions(const llvm::StringSet<> &names) {
  std::string text;
  bool needsWords = names.contains("part") || names.contains("storeShared") ||
                    names.contains("storeGlobal"),
       needsShared = false;
  for (const Function &function : loads) {
    if (names.contains(function.name)) {
      text += function.definition;
      needsShared = true;
    }
  }
  for (const Function &function : others) {
    if (names.contains(function.name)) {
      text += function.definition;
    }
  }
  for (const Product &product : products) {
    if (names.contains(product.name)) {
      bool isTf32 = llvm::StringRef(product.name) == "mmaTf32";
      text += (isTf32 ? toTf32 : "") + definitionOf(product, isTf32);
      needsWords = true;
    }
  }
  return (needsShared ? sharedAddress : "") +
         std::string(needsWords ? words : "") + text;
}

} // namespace tilewright::cuda
