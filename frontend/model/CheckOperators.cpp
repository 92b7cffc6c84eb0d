//===- CheckOperators.cpp - nodes against their operators -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Checks.h"

#include "onnx/checker.h"
#include "onnx/defs/schema.h"

namespace tilewright {
namespace {

Status checkCall(const onnx::NodeProto &node,
                 const onnx::FunctionProto &function) {
  if (node.input_size() > function.input_size() ||
      node.output_size() > function.output_size()) {
    return Status(ErrorCode::ModelInvalid,
                  describe(node) + " has " + std::to_string(node.input_size()) +
                      " inputs and " + std::to_string(node.output_size()) +
                      " outputs, but the function has " +
                      std::to_string(function.input_size()) + " and " +
                      std::to_string(function.output_size()));
  }
  return Status::ok();
}

Status unknownOperator(const onnx::NodeProto &node,
                       const OpsetImports &opsets) {
  std::string domain = canonicalDomain(node.domain());
  std::string set = domain.empty() ? "ai.onnx" : domain;
  auto imported = opsets.find(domain);
  if (imported == opsets.end()) {
    return Status(ErrorCode::UnsupportedOperator,
                  describe(node) + ": operator " + operatorName(node) +
                      " is of operator set '" + set +
                      "', which the model does not import");
  }
  return Status(ErrorCode::UnsupportedOperator,
                describe(node) + ": operator " + operatorName(node) +
                    " is unknown in version " +
                    std::to_string(imported->second) + " of operator set '" +
                    set + "'");
}

Status checkNode(const LoadedModel &model, const Body &body,
                 onnx::NodeProto &node) {
  TW_RETURN_IF_ERROR(checkAttributes(body, node));
  if (const onnx::FunctionProto *function = model.function(node)) {
    return checkCall(node, *function);
  }
  const onnx::OpSchema *schema = schemaOf(node, body.opsets);
  if (schema == nullptr) {
    return unknownOperator(node, body.opsets);
  }
  try {
    schema->Verify(node);
  } catch (const std::exception &error) {
    std::string text = error.what();
    bool aboutAttribute = text.find("ttribute") != std::string::npos;
    return Status(aboutAttribute ? ErrorCode::AttributeInvalid
                                 : ErrorCode::ModelInvalid,
                  describe(node) + ": " + text);
  }
  return Status::ok();
}

} // namespace

Status checkOperators(const LoadedModel &model,
                      const std::vector<Body> &bodies) {
  for (const Body &body : bodies) {
    for (onnx::NodeProto &node : *body.nodes) {
      TW_RETURN_IF_ERROR(checkNode(model, body, node));
    }
  }
  return Status::ok();
}

} // namespace tilewright
