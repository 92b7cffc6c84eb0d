//===- Names.cpp - what users call nodes, types and sizes -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Names.h"

namespace tilewright {

std::string operatorName(const onnx::NodeProto &node) {
  if (node.domain().empty() || node.domain() == "ai.onnx") {
    return node.op_type();
  }
  return node.domain() + "." + node.op_type();
}

std::string nodeName(const onnx::NodeProto &node) {
  if (!node.name().empty()) {
    return node.name();
  }
  for (const std::string &output : node.output()) {
    if (!output.empty()) {
      return node.op_type() + ":" + output;
    }
  }
  return node.op_type();
}

std::string describe(const onnx::NodeProto &node) {
  return "node '" + nodeName(node) + "' (" + operatorName(node) + ")";
}

DeclaredDim declaredDim(const onnx::TensorShapeProto::Dimension &dim) {
  if (dim.has_dim_value()) {
    if (dim.dim_value() < 0) {
      return AnonymousDim{};
    }
    return static_cast<int64_t>(dim.dim_value());
  }
  const std::string &symbol = dim.dim_param();
  if (symbol.empty() || symbol == "?" || symbol == "-1" || symbol == "None") {
    return AnonymousDim{};
  }
  return symbol;
}

bool isKnownElementType(int32_t type) {
  return type != onnx::TensorProto::UNDEFINED &&
         onnx::TensorProto::DataType_IsValid(type);
}

std::string elementTypeName(int32_t type) {
  if (!onnx::TensorProto::DataType_IsValid(type)) {
    return std::to_string(type);
  }
  return onnx::TensorProto::DataType_Name(
      static_cast<onnx::TensorProto::DataType>(type));
}

int elementBits(int32_t type) {
  switch (type) {
  case onnx::TensorProto::UINT2:
  case onnx::TensorProto::INT2:
    return 2;
  case onnx::TensorProto::UINT4:
  case onnx::TensorProto::INT4:
  case onnx::TensorProto::FLOAT4E2M1:
    return 4;
  case onnx::TensorProto::FLOAT6E2M3:
  case onnx::TensorProto::FLOAT6E3M2:
    return 6;
  case onnx::TensorProto::UINT8:
  case onnx::TensorProto::INT8:
  case onnx::TensorProto::BOOL:
  case onnx::TensorProto::FLOAT8E4M3FN:
  case onnx::TensorProto::FLOAT8E4M3FNUZ:
  case onnx::TensorProto::FLOAT8E5M2:
  case onnx::TensorProto::FLOAT8E5M2FNUZ:
  case onnx::TensorProto::FLOAT8E8M0:
    return 8;
  case onnx::TensorProto::UINT16:
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return 16;
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::INT32:
  case onnx::TensorProto::UINT32:
    return 32;
  case onnx::TensorProto::DOUBLE:
  case onnx::TensorProto::INT64:
  case onnx::TensorProto::UINT64:
  case onnx::TensorProto::COMPLEX64:
    return 64;
  case onnx::TensorProto::COMPLEX128:
    return 128;
  default:
    return 0;
  }
}

std::string dimsText(const onnx::TensorProto &tensor) {
  std::string text = "[";
  for (int axis = 0; axis < tensor.dims_size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(tensor.dims(axis));
  }
  return text + "]";
}

} // namespace tilewright
