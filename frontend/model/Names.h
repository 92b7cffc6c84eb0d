//===- Names.h - what users call nodes, types and sizes ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "onnx/onnx_pb.h"

#include <cstdint>
#include <string>
#include <variant>

namespace tilewright {

/// \returns the node's name, or "Op:first_output" when it has none. It is the
/// name in locations, messages and profiles.
std::string nodeName(const onnx::NodeProto &node);

/// \returns "node 'name' (Operator)", for messages.
std::string describe(const onnx::NodeProto &node);

/// \returns the operator as users write it: "Relu", "com.microsoft.Gelu".
std::string operatorName(const onnx::NodeProto &node);

/// A size that the model leaves open, without a name that it shares.
struct AnonymousDim {};

/// A size as a model declares it: a number, a symbol that means the same
/// wherever it stands, or unknown.
using DeclaredDim = std::variant<int64_t, std::string, AnonymousDim>;

/// Reads a declared size. Exporters write unknown sizes as -1, "?", "" or
/// nothing at all; these are anonymous.
DeclaredDim declaredDim(const onnx::TensorShapeProto::Dimension &dim);

/// \returns whether `type` is an element type of ONNX's enumeration, other
/// than UNDEFINED.
bool isKnownElementType(int32_t type);

/// \returns "FLOAT", "INT64", …, or the number when it is no known type.
std::string elementTypeName(int32_t type);

/// \returns bits per element as ONNX stores them in raw data (4 for INT4);
/// 0 for strings and unknown types.
int elementBits(int32_t type);

/// \returns "[2, 3, 4]".
std::string dimsText(const onnx::TensorProto &tensor);

} // namespace tilewright
