//===- DeviceFunctions.cpp - what kernels call ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// CUDA's headers are left out: they take longer to read than a kernel takes to
// compile.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/DeviceFunctions.h"

namespace tilewright::cuda {

namespace {
struct DeviceFunction {
  const char *name;
  const char *definition;
};
} // namespace

static constexpr DeviceFunction functions[] = {
    {"Vec", R"(// What one thread loads or stores at once.
template <typename T, int N> struct __align__(sizeof(T) * N) Vec { T at[N]; };
)"},
    {"floorDiv", R"(template <typename T> __device__ T floorDiv(T x, T y) {
  T quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0));
}
)"},
    {"ceilDiv", R"(template <typename T> __device__ T ceilDiv(T x, T y) {
  T quotient = x / y;
  return quotient + (x % y != 0 && (x < 0) == (y < 0));
}
)"},
    {"maximum", R"(// NaN if one of them is; +0 is greater than -0.
__device__ float maximum(float x, float y) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
__device__ double maximum(double x, double y) {
  return isnan(x) || isnan(y) ? x + y : fmax(x, y);
}
)"},
    {"minimum", R"(// NaN if one of them is; -0 is less than +0.
__device__ float minimum(float x, float y) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
__device__ double minimum(double x, double y) {
  return isnan(x) || isnan(y) ? x + y : fmin(x, y);
}
)"},
    {"opaque",
     R"(// What a compiler knows nothing of: it unrolls a loop whose count it sees, whatever
// its pragma says.
__device__ int opaque(int x) {
  asm volatile("" : "+r"(x));
  return x;
}
__device__ i64 opaque(i64 x) {
  asm volatile("" : "+l"(x));
  return x;
}
)"},
    {"ordered", R"(template <typename T> __device__ bool ordered(T x, T y) {
  return !isnan(x) && !isnan(y);
}
)"},
    {"toFloat", R"(__device__ float f16ToFloat(f16 x) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x));
  return result;
}
__device__ float bf16ToFloat(bf16 x) { return __uint_as_float(unsigned(x) << 16); }
)"},
    {"toF16", R"(__device__ f16 toF16(float x) {
  f16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(x));
  return result;
}
__device__ f16 toF16(double x) {
  f16 result;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(result) : "d"(x));
  return result;
}
)"},
    {"toBf16", R"(__device__ bf16 toBf16(float x) {
  bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(x));
  return result;
}
// Through f32 rounded to odd, so that the second rounding gives what one would.
__device__ bf16 toBf16(double x) {
  float truncated = __double2float_rz(x);
  unsigned isInexact = double(truncated) != x && !isnan(x);
  return toBf16(__uint_as_float(__float_as_uint(truncated) | isInexact));
}
)"},
};

std::string deviceFunctions(const llvm::StringSet<> &names) {
  std::string text;
  for (const DeviceFunction &function : functions) {
    if (names.contains(function.name)) {
      text += function.definition;
      text += "\n";
    }
  }
  return text + matrixFunctions(names);
}

} // namespace tilewright::cuda
