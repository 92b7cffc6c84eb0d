//===- Bodies.cpp - every list of nodes in a model --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Bodies.h"

namespace tilewright {
namespace {

/// Deeper nesting is no model, but an attempt at our stack.
constexpr unsigned maxDepth = 64;

Status collect(Body body, unsigned depth, std::vector<Body> &bodies) {
  if (depth > maxDepth) {
    return Status(ErrorCode::ModelInvalid,
                  "graphs are nested more than " + std::to_string(maxDepth) +
                      " deep (in graph '" + body.graph->name() + "')");
  }
  bodies.push_back(body);
  for (onnx::NodeProto &node : *body.nodes) {
    for (onnx::GraphProto *graph : subgraphs(node)) {
      TW_RETURN_IF_ERROR(
          collect({graph->mutable_node(), graph, body.function, body.opsets},
                  depth + 1, bodies));
    }
  }
  return Status::ok();
}

} // namespace

std::vector<onnx::GraphProto *> subgraphs(onnx::NodeProto &node) {
  std::vector<onnx::GraphProto *> graphs;
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) {
      graphs.push_back(attribute.mutable_g());
    }
    for (onnx::GraphProto &graph : *attribute.mutable_graphs()) {
      graphs.push_back(&graph);
    }
  }
  return graphs;
}

std::vector<const onnx::GraphProto *> subgraphs(const onnx::NodeProto &node) {
  std::vector<const onnx::GraphProto *> graphs;
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g()) {
      graphs.push_back(&attribute.g());
    }
    for (const onnx::GraphProto &graph : attribute.graphs()) {
      graphs.push_back(&graph);
    }
  }
  return graphs;
}

Result<std::vector<Body>> collectBodies(onnx::ModelProto &model) {
  std::vector<Body> bodies;
  onnx::GraphProto *graph = model.mutable_graph();
  TW_RETURN_IF_ERROR(collect(
      {graph->mutable_node(), graph, nullptr, importsOf(model)}, 0, bodies));
  for (onnx::FunctionProto &function : *model.mutable_functions()) {
    TW_RETURN_IF_ERROR(collect(
        {function.mutable_node(), nullptr, &function, importsOf(function)}, 0,
        bodies));
  }
  return bodies;
}

} // namespace tilewright
