//===- CheckTensors.cpp - the data of constants -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Checks.h"
#include "frontend/model/TensorData.h"

#include <unordered_map>

namespace tilewright {
namespace {

using onnx::TensorProto;

Status checkInitializers(onnx::GraphProto &graph) {
  if (graph.sparse_initializer_size() != 0) {
    return Status(ErrorCode::UnsupportedType,
                  "initializer '" +
                      graph.sparse_initializer(0).values().name() +
                      "' is a sparse tensor");
  }
  auto &initializers = *graph.mutable_initializer();
  std::unordered_map<std::string, const TensorProto *> seen;
  for (auto tensor = initializers.begin(); tensor != initializers.end();) {
    if (tensor->name().empty()) {
      return Status(ErrorCode::ModelInvalid, "an initializer of graph '" +
                                                 graph.name() +
                                                 "' has no name");
    }
    TW_RETURN_IF_ERROR(checkTensorData(*tensor));
    auto [first, isNew] = seen.emplace(tensor->name(), &*tensor);
    if (isNew) {
      ++tensor;
      continue;
    }
    // Some exporters write a shared weight once for each use.
    if (first->second->SerializeAsString() != tensor->SerializeAsString()) {
      return Status(ErrorCode::ModelInvalid,
                    "initializer '" + tensor->name() +
                        "' is defined twice, with different content");
    }
    tensor = initializers.erase(tensor);
  }
  return Status::ok();
}

} // namespace

std::vector<TensorProto *> collectTensors(const std::vector<Body> &bodies) {
  std::vector<TensorProto *> tensors;
  for (const Body &body : bodies) {
    if (body.graph != nullptr) {
      for (TensorProto &tensor : *body.graph->mutable_initializer()) {
        tensors.push_back(&tensor);
      }
    }
    for (onnx::NodeProto &node : *body.nodes) {
      for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
        if (attribute.has_t()) {
          tensors.push_back(attribute.mutable_t());
        }
        for (TensorProto &tensor : *attribute.mutable_tensors()) {
          tensors.push_back(&tensor);
        }
        if (attribute.has_sparse_tensor()) {
          onnx::SparseTensorProto &sparse = *attribute.mutable_sparse_tensor();
          tensors.push_back(sparse.mutable_values());
          tensors.push_back(sparse.mutable_indices());
        }
      }
    }
  }
  return tensors;
}

Status checkTensors(const std::vector<Body> &bodies) {
  for (const Body &body : bodies) {
    if (body.graph != nullptr) {
      TW_RETURN_IF_ERROR(checkInitializers(*body.graph));
    }
    for (const onnx::NodeProto &node : *body.nodes) {
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        auto check = [&](const TensorProto &tensor) {
          Status status = checkTensorData(tensor);
          return status
                     ? status
                     : Status(status.code(), describe(node) + ", attribute '" +
                                                 attribute.name() +
                                                 "': " + status.message());
        };
        if (attribute.has_t()) {
          TW_RETURN_IF_ERROR(check(attribute.t()));
        }
        for (const TensorProto &tensor : attribute.tensors()) {
          TW_RETURN_IF_ERROR(check(tensor));
        }
        if (attribute.has_sparse_tensor()) {
          TW_RETURN_IF_ERROR(check(attribute.sparse_tensor().values()));
          TW_RETURN_IF_ERROR(check(attribute.sparse_tensor().indices()));
        }
      }
    }
  }
  return Status::ok();
}

} // namespace tilewright
