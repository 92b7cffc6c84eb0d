//===- CheckTypes.cpp - versions and declared types -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Checks.h"

#include "onnx/defs/schema.h"

namespace tilewright {
namespace {

Status checkElementType(int32_t type, const std::string &value) {
  if (isKnownElementType(type)) {
    return Status::ok();
  }
  return Status(ErrorCode::TypeMismatch, "value '" + value +
                                             "' has the unknown element type " +
                                             elementTypeName(type));
}

Status checkShape(onnx::TensorShapeProto &shape, const std::string &value) {
  for (onnx::TensorShapeProto::Dimension &dim : *shape.mutable_dim()) {
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      return Status(ErrorCode::ModelInvalid,
                    "value '" + value + "' declares the negative size " +
                        std::to_string(dim.dim_value()));
    }
    // Shape inference would calculate with -1, and take two "?" for equal.
    if (std::holds_alternative<AnonymousDim>(declaredDim(dim))) {
      dim.clear_value();
    }
  }
  return Status::ok();
}

Status checkType(onnx::TypeProto &type, const std::string &value,
                 unsigned depth) {
  if (depth > 16) {
    return Status(ErrorCode::ModelInvalid,
                  "the type of value '" + value + "' is nested too deeply");
  }
  switch (type.value_case()) {
  case onnx::TypeProto::kTensorType: {
    auto &tensor = *type.mutable_tensor_type();
    TW_RETURN_IF_ERROR(checkElementType(tensor.elem_type(), value));
    return tensor.has_shape() ? checkShape(*tensor.mutable_shape(), value)
                              : Status::ok();
  }
  case onnx::TypeProto::kSparseTensorType: {
    auto &tensor = *type.mutable_sparse_tensor_type();
    TW_RETURN_IF_ERROR(checkElementType(tensor.elem_type(), value));
    return tensor.has_shape() ? checkShape(*tensor.mutable_shape(), value)
                              : Status::ok();
  }
  case onnx::TypeProto::kSequenceType:
    return checkType(*type.mutable_sequence_type()->mutable_elem_type(), value,
                     depth + 1);
  case onnx::TypeProto::kOptionalType:
    return checkType(*type.mutable_optional_type()->mutable_elem_type(), value,
                     depth + 1);
  case onnx::TypeProto::kMapType:
    TW_RETURN_IF_ERROR(checkElementType(type.map_type().key_type(), value));
    return checkType(*type.mutable_map_type()->mutable_value_type(), value,
                     depth + 1);
  case onnx::TypeProto::kOpaqueType:
  case onnx::TypeProto::VALUE_NOT_SET:
    return Status::ok();
  }
  return Status::ok();
}

using ValueInfos = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

Status checkValueInfos(ValueInfos &values) {
  for (onnx::ValueInfoProto &value : values) {
    if (value.has_type()) {
      TW_RETURN_IF_ERROR(checkType(*value.mutable_type(), value.name(), 0));
    }
  }
  return Status::ok();
}

/// value_info only repeats what follows from the rest: an entry that says
/// nothing is dropped instead of refused.
void dropEmptyInfos(onnx::GraphProto &graph) {
  ValueInfos &infos = *graph.mutable_value_info();
  for (auto info = infos.begin(); info != infos.end();) {
    bool empty = info->type().value_case() == onnx::TypeProto::kTensorType &&
                 info->type().tensor_type().elem_type() == 0;
    info = empty ? infos.erase(info) : std::next(info);
  }
}

} // namespace

Status checkVersions(const onnx::ModelProto &model) {
  if (model.ir_version() < 1) {
    return Status(ErrorCode::ModelMalformed,
                  "the model has no IR version: not an ONNX model, or damaged");
  }
  if (model.ir_version() > onnx::Version::IR_VERSION) {
    return Status(ErrorCode::UnsupportedVersion,
                  "the model's IR version " +
                      std::to_string(model.ir_version()) +
                      " is newer than the newest known one, " +
                      std::to_string(int(onnx::Version::IR_VERSION)));
  }
  const auto &known =
      onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto check = [&](const OpsetImports &imports) {
    for (const auto &[domain, version] : imports) {
      std::string name = domain.empty() ? "ai.onnx" : domain;
      if (version < 1) {
        return Status(ErrorCode::ModelInvalid, "operator set '" + name +
                                                   "' is imported at version " +
                                                   std::to_string(version));
      }
      auto range = known.find(domain);
      if (range != known.end() && version > range->second.second) {
        return Status(ErrorCode::UnsupportedVersion,
                      "version " + std::to_string(version) +
                          " of operator set '" + name +
                          "' is newer than the newest known one, " +
                          std::to_string(range->second.second));
      }
    }
    return Status::ok();
  };
  TW_RETURN_IF_ERROR(check(importsOf(model)));
  for (const onnx::FunctionProto &function : model.functions()) {
    TW_RETURN_IF_ERROR(check(importsOf(function)));
  }
  return Status::ok();
}

Status checkTypes(onnx::ModelProto &model, const std::vector<Body> &bodies) {
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    if (!input.has_type() ||
        input.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) {
      return Status(ErrorCode::ModelInvalid,
                    "input '" + input.name() + "' has no type");
    }
  }
  for (const Body &body : bodies) {
    if (body.graph != nullptr) {
      dropEmptyInfos(*body.graph);
      TW_RETURN_IF_ERROR(checkValueInfos(*body.graph->mutable_input()));
      TW_RETURN_IF_ERROR(checkValueInfos(*body.graph->mutable_output()));
      TW_RETURN_IF_ERROR(checkValueInfos(*body.graph->mutable_value_info()));
    }
    for (onnx::NodeProto &node : *body.nodes) {
      for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
        if (attribute.has_tp()) {
          TW_RETURN_IF_ERROR(
              checkType(*attribute.mutable_tp(), nodeName(node), 0));
        }
      }
    }
  }
  return Status::ok();
}

} // namespace tilewright
