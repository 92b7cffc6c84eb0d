//===- DType.h - element types ----------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The element types of tensors, with the numbers that the module format uses.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright {

/// Element types. Types below a byte (I4, U4, F4E2M1, I2, U2) take one byte per
/// element, in the low bits, not sign-extended. A Bool is one byte, 0 or 1.
enum class DType : uint8_t {
  F32,
  F16,
  BF16,
  F64,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Bool,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F8E8M0,
  I4,
  U4,
  F4E2M1,
  I2,
  U2,
  String,
  C64,
  C128
};

/// How many element types there are.
constexpr unsigned dtypeCount = 26;

/// \returns the bytes that one element takes in memory; 0 for String, which has
/// no fixed size.
size_t sizeOf(DType type);

/// \returns the short name: "f32", "bf16", "u8", "bool", "f8e4m3fn", "c64" …
const char *nameOf(DType type);

/// \returns the type with that short name, or with that NumPy name
/// ("float32", "uint8" …), if there is one.
std::optional<DType> dtypeFromName(std::string_view name);

/// \returns whether the type is an integer of at least 8 bits.
bool isInteger(DType type);

} // namespace tilewright
