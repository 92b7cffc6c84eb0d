//===- ElementTypes.cpp - ONNX's element types as MLIR types --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementTypes.h"

#include <utility>

using namespace mlir;

namespace tilewright::frontend {

static constexpr std::pair<onnx::TensorProto::DataType, DType> types[] = {
    {onnx::TensorProto::FLOAT, DType::F32},
    {onnx::TensorProto::FLOAT16, DType::F16},
    {onnx::TensorProto::BFLOAT16, DType::BF16},
    {onnx::TensorProto::DOUBLE, DType::F64},
    {onnx::TensorProto::INT8, DType::I8},
    {onnx::TensorProto::INT16, DType::I16},
    {onnx::TensorProto::INT32, DType::I32},
    {onnx::TensorProto::INT64, DType::I64},
    {onnx::TensorProto::UINT8, DType::U8},
    {onnx::TensorProto::UINT16, DType::U16},
    {onnx::TensorProto::UINT32, DType::U32},
    {onnx::TensorProto::UINT64, DType::U64},
    {onnx::TensorProto::BOOL, DType::Bool},
    {onnx::TensorProto::FLOAT8E4M3FN, DType::F8E4M3FN},
    {onnx::TensorProto::FLOAT8E4M3FNUZ, DType::F8E4M3FNUZ},
    {onnx::TensorProto::FLOAT8E5M2, DType::F8E5M2},
    {onnx::TensorProto::FLOAT8E5M2FNUZ, DType::F8E5M2FNUZ},
    {onnx::TensorProto::FLOAT8E8M0, DType::F8E8M0},
    {onnx::TensorProto::INT4, DType::I4},
    {onnx::TensorProto::UINT4, DType::U4},
    {onnx::TensorProto::FLOAT4E2M1, DType::F4E2M1},
    {onnx::TensorProto::INT2, DType::I2},
    {onnx::TensorProto::UINT2, DType::U2},
};

Type elementTypeFromOnnx(MLIRContext *context, int32_t type) {
  for (auto [onnxType, dtype] : types) {
    if (onnxType == type) {
      return tw::elementType(context, dtype);
    }
  }
  return {};
}

int32_t onnxElementType(Type element) {
  std::optional<DType> dtype = tw::dtypeOf(element);
  for (auto [onnxType, ours] : types) {
    if (dtype == ours) {
      return onnxType;
    }
  }
  return onnx::TensorProto::UNDEFINED;
}

onnx::TypeProto onnxTypeOf(Type type) {
  onnx::TypeProto result;
  auto *tensor = result.mutable_tensor_type();
  tensor->set_elem_type(onnxElementType(tw::elementTypeOf(type)));
  auto *shape = tensor->mutable_shape();
  for (tw::DimExpr dim : tw::dimsOf(type)) {
    auto *size = shape->add_dim();
    if (std::optional<int64_t> value = dim.getConstant()) {
      size->set_dim_value(*value);
    }
  }
  return result;
}

} // namespace tilewright::frontend
