//===- Bodies.h - every list of nodes in a model ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/model/Model.h"

namespace tilewright {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// A list of nodes with what its nodes mean: the main graph, the body of an
/// If, Loop or Scan at any depth, or a model-local function.
struct Body {
  NodeList *nodes = nullptr;
  onnx::GraphProto *graph = nullptr;             // null for a function itself
  const onnx::FunctionProto *function = nullptr; // null outside of functions
  OpsetImports opsets;
};

/// \returns all bodies of `model`, outer ones before inner ones. Errors:
/// ModelInvalid when they are nested too deeply.
Result<std::vector<Body>> collectBodies(onnx::ModelProto &model);

/// \returns the graphs among the attributes of `node`.
std::vector<onnx::GraphProto *> subgraphs(onnx::NodeProto &node);
std::vector<const onnx::GraphProto *> subgraphs(const onnx::NodeProto &node);

} // namespace tilewright
