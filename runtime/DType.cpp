//===- DType.cpp - element types ------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/DType.h"

#include "runtime/format/module_generated.h"

using namespace tilewright;

static_assert(unsigned(format::DType_MAX) + 1 == dtypeCount &&
                  unsigned(format::DType_C128) == unsigned(DType::C128) &&
                  unsigned(format::DType_I4) == unsigned(DType::I4) &&
                  unsigned(format::DType_Bool) == unsigned(DType::Bool),
              "DType and the module format have drifted apart");

namespace {
struct TypeRow {
  const char *name;
  const char *numpyName;
  size_t bytes;
};
} // namespace

static constexpr TypeRow rows[dtypeCount] = {
    {"f32", "float32", 4},
    {"f16", "float16", 2},
    {"bf16", "bfloat16", 2},
    {"f64", "float64", 8},
    {"i8", "int8", 1},
    {"i16", "int16", 2},
    {"i32", "int32", 4},
    {"i64", "int64", 8},
    {"u8", "uint8", 1},
    {"u16", "uint16", 2},
    {"u32", "uint32", 4},
    {"u64", "uint64", 8},
    {"bool", "bool", 1},
    {"f8e4m3fn", "float8_e4m3fn", 1},
    {"f8e4m3fnuz", "float8_e4m3fnuz", 1},
    {"f8e5m2", "float8_e5m2", 1},
    {"f8e5m2fnuz", "float8_e5m2fnuz", 1},
    {"f8e8m0", "float8_e8m0fnu", 1},
    {"i4", "int4", 1},
    {"u4", "uint4", 1},
    {"f4e2m1", "float4_e2m1fn", 1},
    {"i2", "int2", 1},
    {"u2", "uint2", 1},
    {"string", "object", 0},
    {"c64", "complex64", 8},
    {"c128", "complex128", 16},
};

size_t tilewright::sizeOf(DType type) {
  unsigned index = static_cast<unsigned>(type);
  return index < dtypeCount ? rows[index].bytes : 0;
}

const char *tilewright::nameOf(DType type) {
  unsigned index = static_cast<unsigned>(type);
  return index < dtypeCount ? rows[index].name : "unknown";
}

std::optional<DType> tilewright::dtypeFromName(std::string_view name) {
  for (unsigned i = 0; i < dtypeCount; ++i) {
    if (name == rows[i].name || name == rows[i].numpyName) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

bool tilewright::isInteger(DType type) {
  return type >= DType::I8 && type <= DType::U64;
}
