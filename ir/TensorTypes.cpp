//===- TensorTypes.cpp - tensor types with symbolic dims ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/TensorTypes.h"
#include "ir/TwDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::tw {

RankedTensorType tensorType(ArrayRef<DimExpr> dims, Type element) {
  SmallVector<int64_t> shape;
  bool isStatic = true;
  for (DimExpr dim : dims) {
    std::optional<int64_t> value = dim.getConstant();
    isStatic &= value.has_value();
    shape.push_back(value.value_or(ShapedType::kDynamic));
  }
  Attribute encoding;
  if (!isStatic) {
    encoding = DimsAttr::get(element.getContext(), dims);
  }
  return RankedTensorType::get(shape, element, encoding);
}

SmallVector<DimExpr> dimsOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (auto dims = dyn_cast_or_null<DimsAttr>(tensor.getEncoding())) {
    return dims.getDims();
  }
  SmallVector<DimExpr> dims;
  for (int64_t size : tensor.getShape()) {
    dims.push_back(ShapedType::isDynamic(size)
                       ? DimExpr()
                       : DimExpr::constant(type.getContext(), size));
  }
  return dims;
}

DimExpr elementCount(Type tensor) {
  return productOf(tensor.getContext(), dimsOf(tensor));
}

Type elementTypeOf(Type tensor) {
  return cast<RankedTensorType>(tensor).getElementType();
}

Type scalarType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element);
      integer && !integer.isSignless()) {
    return IntegerType::get(element.getContext(), integer.getWidth());
  }
  return element;
}

bool isUnsigned(Type element) { return element.isUnsignedInteger(); }

Type computeType(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() < 32 ? Float32Type::get(element.getContext())
                                      : element;
}

std::optional<DType> dtypeOf(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return DType::Bool;
    case 2:
      return isUnsigned ? DType::U2 : DType::I2;
    case 4:
      return isUnsigned ? DType::U4 : DType::I4;
    case 8:
      return isUnsigned ? DType::U8 : DType::I8;
    case 16:
      return isUnsigned ? DType::U16 : DType::I16;
    case 32:
      return isUnsigned ? DType::U32 : DType::I32;
    case 64:
      return isUnsigned ? DType::U64 : DType::I64;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, std::optional<DType>>(element)
      .Case([](Float32Type) { return DType::F32; })
      .Case([](Float64Type) { return DType::F64; })
      .Case([](Float16Type) { return DType::F16; })
      .Case([](BFloat16Type) { return DType::BF16; })
      .Case([](Float8E4M3FNType) { return DType::F8E4M3FN; })
      .Case([](Float8E4M3FNUZType) { return DType::F8E4M3FNUZ; })
      .Case([](Float8E5M2Type) { return DType::F8E5M2; })
      .Case([](Float8E5M2FNUZType) { return DType::F8E5M2FNUZ; })
      .Case([](Float8E8M0FNUType) { return DType::F8E8M0; })
      .Case([](Float4E2M1FNType) { return DType::F4E2M1; })
      .Default([](Type) { return std::nullopt; });
}

Type elementType(MLIRContext *context, DType dtype) {
  auto integer = [&](unsigned width) -> Type {
    return IntegerType::get(context, width);
  };
  auto unsignedInteger = [&](unsigned width) -> Type {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (dtype) {
  case DType::F32:
    return Float32Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::I8:
    return integer(8);
  case DType::I16:
    return integer(16);
  case DType::I32:
    return integer(32);
  case DType::I64:
    return integer(64);
  case DType::U8:
    return unsignedInteger(8);
  case DType::U16:
    return unsignedInteger(16);
  case DType::U32:
    return unsignedInteger(32);
  case DType::U64:
    return unsignedInteger(64);
  case DType::Bool:
    return integer(1);
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DType::F8E8M0:
    return Float8E8M0FNUType::get(context);
  case DType::I4:
    return integer(4);
  case DType::U4:
    return unsignedInteger(4);
  case DType::F4E2M1:
    return Float4E2M1FNType::get(context);
  case DType::I2:
    return integer(2);
  case DType::U2:
    return unsignedInteger(2);
  case DType::String:
  case DType::C64:
  case DType::C128:
    return {};
  }
  return {};
}

} // namespace tilewright::tw
