//===- Syntax.cpp - PTX types by name -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/ptx/Syntax.h"

using namespace tilewright::sim::ptx;

namespace {
struct TypeInfo {
  const char *name;
  Type type;
  uint8_t bytes;
  char kind;
};
} // namespace

/// In the order of the enumeration.
static constexpr TypeInfo types[] = {
    {"u8", Type::U8, 1, 'u'},         {"u16", Type::U16, 2, 'u'},
    {"u32", Type::U32, 4, 'u'},       {"u64", Type::U64, 8, 'u'},
    {"s8", Type::S8, 1, 's'},         {"s16", Type::S16, 2, 's'},
    {"s32", Type::S32, 4, 's'},       {"s64", Type::S64, 8, 's'},
    {"b8", Type::B8, 1, 'b'},         {"b16", Type::B16, 2, 'b'},
    {"b32", Type::B32, 4, 'b'},       {"b64", Type::B64, 8, 'b'},
    {"b128", Type::B128, 16, 'b'},    {"f16", Type::F16, 2, 'f'},
    {"f16x2", Type::F16x2, 4, 'f'},   {"bf16", Type::Bf16, 2, 'f'},
    {"bf16x2", Type::Bf16x2, 4, 'f'}, {"tf32", Type::Tf32, 4, 'f'},
    {"f32", Type::F32, 4, 'f'},       {"f64", Type::F64, 8, 'f'},
    {"e4m3", Type::E4m3, 1, 'f'},     {"e5m2", Type::E5m2, 1, 'f'},
    {"e4m3x2", Type::E4m3x2, 2, 'f'}, {"e5m2x2", Type::E5m2x2, 2, 'f'},
    {"pred", Type::Pred, 0, 'p'},     {"", Type::None, 0, ' '},
};

Type tilewright::sim::ptx::typeNamed(std::string_view word) {
  for (const TypeInfo &info : types) {
    if (!word.empty() && word == info.name) {
      return info.type;
    }
  }
  return Type::None;
}

unsigned tilewright::sim::ptx::bytesOf(Type type) {
  return types[unsigned(type)].bytes;
}
bool tilewright::sim::ptx::isSigned(Type type) {
  return types[unsigned(type)].kind == 's';
}
bool tilewright::sim::ptx::isFloat(Type type) {
  return types[unsigned(type)].kind == 'f';
}
bool tilewright::sim::ptx::isInteger(Type type) {
  char kind = types[unsigned(type)].kind;
  return kind == 'u' || kind == 's' || kind == 'b';
}
