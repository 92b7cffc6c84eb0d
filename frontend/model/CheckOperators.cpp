//===- CheckOperators.cpp - nodes against their operators -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Checks.h"

#include "onnx/checker.h"
#include "onnx/defs/schema.h"

#include <algorithm>

namespace tilewright {
namespace {

Status attributeError(const onnx::NodeProto &node, const std::string &name,
                      const std::string &why) {
  return Status(ErrorCode::AttributeInvalid,
                describe(node) + ": attribute '" + name + "' " + why);
}

/// An attribute holds one kind of value, the one that it says.
Status checkValue(const onnx::NodeProto &node,
                  const onnx::AttributeProto &attribute) {
  using Type = onnx::AttributeProto;
  const std::pair<bool, Type::AttributeType> kinds[] = {
      {attribute.has_f(), Type::FLOAT},
      {attribute.has_i(), Type::INT},
      {attribute.has_s(), Type::STRING},
      {attribute.has_t(), Type::TENSOR},
      {attribute.has_g(), Type::GRAPH},
      {attribute.has_tp(), Type::TYPE_PROTO},
      {attribute.has_sparse_tensor(), Type::SPARSE_TENSOR},
      {attribute.floats_size() > 0, Type::FLOATS},
      {attribute.ints_size() > 0, Type::INTS},
      {attribute.strings_size() > 0, Type::STRINGS},
      {attribute.tensors_size() > 0, Type::TENSORS},
      {attribute.graphs_size() > 0, Type::GRAPHS},
      {attribute.sparse_tensors_size() > 0, Type::SPARSE_TENSORS},
      {attribute.type_protos_size() > 0, Type::TYPE_PROTOS},
  };
  for (const auto &[isThere, type] : kinds) {
    if (isThere && type != attribute.type()) {
      return attributeError(node, attribute.name(),
                            "holds a value of type " +
                                Type::AttributeType_Name(type) +
                                " but says that its type is " +
                                Type::AttributeType_Name(attribute.type()));
    }
  }
  return Status::ok();
}

/// Attributes that size or divide something in every operator that has them.
/// ONNX's shape inference trusts some of them.
Status checkPositive(const onnx::NodeProto &node,
                     const onnx::AttributeProto &attribute) {
  static const char *const lists[] = {"strides", "dilations", "kernel_shape"};
  static const char *const numbers[] = {"group", "blocksize", "num_outputs",
                                        "hidden_size"};
  auto named = [&](const char *name) { return attribute.name() == name; };
  if (std::any_of(std::begin(lists), std::end(lists), named)) {
    for (int64_t value : attribute.ints()) {
      if (value <= 0) {
        return attributeError(node, attribute.name(),
                              "must be positive, not " + std::to_string(value));
      }
    }
  }
  if (std::any_of(std::begin(numbers), std::end(numbers), named) &&
      attribute.has_i() && attribute.i() <= 0) {
    return attributeError(node, attribute.name(),
                          "must be positive, not " +
                              std::to_string(attribute.i()));
  }
  if (named("num_outputs") && node.op_type() == "Split" &&
      attribute.i() != node.output_size()) {
    return attributeError(node, attribute.name(),
                          "is " + std::to_string(attribute.i()) +
                              ", but the node has " +
                              std::to_string(node.output_size()) + " outputs");
  }
  return Status::ok();
}

Status checkReference(const Body &body, const onnx::NodeProto &node,
                      const onnx::AttributeProto &attribute) {
  const std::string &name = attribute.ref_attr_name();
  if (name.empty()) {
    return Status::ok();
  }
  if (body.function == nullptr) {
    return attributeError(node, attribute.name(),
                          "refers to attribute '" + name +
                              "' of a function, but is in none");
  }
  const auto &plain = body.function->attribute();
  const auto &withDefault = body.function->attribute_proto();
  if (std::find(plain.begin(), plain.end(), name) != plain.end() ||
      std::any_of(withDefault.begin(), withDefault.end(),
                  [&](const auto &other) { return other.name() == name; })) {
    return Status::ok();
  }
  return attributeError(node, attribute.name(),
                        "refers to '" + name +
                            "', which is no attribute of function '" +
                            body.function->name() + "'");
}

Status checkAttributes(const Body &body, const onnx::NodeProto &node) {
  for (int i = 0; i < node.attribute_size(); ++i) {
    const onnx::AttributeProto &attribute = node.attribute(i);
    for (int j = 0; j < i; ++j) {
      if (node.attribute(j).name() == attribute.name()) {
        return attributeError(node, attribute.name(), "is given twice");
      }
    }
    TW_RETURN_IF_ERROR(checkReference(body, node, attribute));
    TW_RETURN_IF_ERROR(checkValue(node, attribute));
    if (canonicalDomain(node.domain()).empty()) {
      TW_RETURN_IF_ERROR(checkPositive(node, attribute));
    }
  }
  return Status::ok();
}

/// Models of the first IR versions do not write attribute types.
void fillAttributeTypes(onnx::NodeProto &node) {
  using Type = onnx::AttributeProto;
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.type() != Type::UNDEFINED) {
      continue;
    }
    if (attribute.has_f()) {
      attribute.set_type(Type::FLOAT);
    } else if (attribute.has_i()) {
      attribute.set_type(Type::INT);
    } else if (attribute.has_s()) {
      attribute.set_type(Type::STRING);
    } else if (attribute.has_t()) {
      attribute.set_type(Type::TENSOR);
    } else if (attribute.has_g()) {
      attribute.set_type(Type::GRAPH);
    } else if (attribute.floats_size() > 0) {
      attribute.set_type(Type::FLOATS);
    } else if (attribute.ints_size() > 0) {
      attribute.set_type(Type::INTS);
    } else if (attribute.strings_size() > 0) {
      attribute.set_type(Type::STRINGS);
    }
  }
}

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
  fillAttributeTypes(node);
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
