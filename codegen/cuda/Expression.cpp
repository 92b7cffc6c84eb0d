//===- Expression.cpp - pieces of C++ text --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Expression.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright::cuda {

bool isSmallFloat(Type type) { return type.isF16() || type.isBF16(); }

std::string typeName(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    return "Vec<" + storageName(vector.getElementType()) + ", " +
           std::to_string(vector.getNumElements()) + ">";
  }
  if (type.isInteger(1)) {
    return "bool";
  }
  if (type.isIntOrIndex() && !type.isIndex() &&
      type.getIntOrFloatBitWidth() < 8) {
    return "unsigned char"; // the low bits
  }
  return storageName(type);
}

std::string storageName(Type type) {
  if (type.isF16()) {
    return "f16";
  }
  if (type.isBF16()) {
    return "bf16";
  }
  if (type.isF32()) {
    return "float";
  }
  if (type.isF64()) {
    return "double";
  }
  if (type.isIndex()) {
    return "index";
  }
  if (type.isInteger(64)) {
    return "i64";
  }
  switch (type.getIntOrFloatBitWidth()) {
  case 32:
    return "int";
  case 16:
    return "short";
  default:
    return "i8";
  }
}

std::string unsignedTypeName(Type type) {
  if (type.isIndex()) {
    return "uindex";
  }
  if (type.isInteger(64)) {
    return "u64";
  }
  switch (type.getIntOrFloatBitWidth()) {
  case 32:
    return "unsigned";
  case 16:
    return "u16";
  default:
    return "u8";
  }
}

static std::string hexadecimal(uint64_t bits) {
  return "0x" + llvm::utohexstr(bits, /*LowerCase=*/true);
}

static Expression floatLiteral(const APFloat &value, Type type) {
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  if (isSmallFloat(type)) {
    return {typeName(type) + "(" + hexadecimal(bits) + ")"};
  }
  if (!value.isFinite()) {
    return {type.isF32() ? "__int_as_float(" + hexadecimal(bits) + ")"
                         : "__longlong_as_double(" + hexadecimal(bits) + ")"};
  }
  llvm::SmallString<32> text;
  value.toString(text);
  std::string digits = text.str().str();
  if (digits.find_first_of(".eE") == std::string::npos) {
    digits += ".0";
  }
  if (type.isF32()) {
    digits += "f";
  }
  return {digits, value.isNegative() ? Unary : Primary};
}

Expression literal(TypedAttr value, bool isArgument) {
  Type type = value.getType();
  if (auto real = dyn_cast<FloatAttr>(value)) {
    return floatLiteral(real.getValue(), type);
  }
  APInt bits = cast<IntegerAttr>(value).getValue();
  if (type.isInteger(1)) {
    return {bits.isZero() ? "false" : "true"};
  }
  if (bits.getBitWidth() < 8) {
    return {std::to_string(bits.getZExtValue())};
  }
  int64_t number = bits.getSExtValue();
  if (number == INT64_MIN) {
    return {"i64(0x8000000000000000)"};
  }
  std::string text = std::to_string(number);
  if (isArgument && type.isIndex()) {
    return {"index(" + text + ")"};
  }
  std::string suffix = isArgument && type.isInteger(64) ? "ll" : "";
  return {text + suffix, number < 0 ? Unary : Primary};
}

} // namespace tilewright::cuda
