//===- CheckAttributes.cpp - a node's attributes ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Checks.h"

#include <algorithm>
#include <string_view>

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

/// An axis is a small number, also where nobody knows the rank yet. ONNX's
/// shape inference narrows axes to 32 bits before it looks at them.
Status checkAxes(const onnx::NodeProto &node,
                 const onnx::AttributeProto &attribute) {
  static const char *const names[] = {"axis",
                                      "axes",
                                      "batch_axis",
                                      "perm",
                                      "new_axis",
                                      "batch_dims",
                                      "time_axis",
                                      "scan_input_axes",
                                      "scan_output_axes"};
  constexpr int64_t maxAxis = 1 << 16;
  if (std::none_of(std::begin(names), std::end(names), [&](const char *name) {
        return attribute.name() == name;
      })) {
    return Status::ok();
  }
  auto check = [&](int64_t axis) {
    return axis >= -maxAxis && axis <= maxAxis
               ? Status::ok()
               : attributeError(node, attribute.name(),
                                std::to_string(axis) + " is not an axis");
  };
  for (int64_t axis : attribute.ints()) {
    TW_RETURN_IF_ERROR(check(axis));
  }
  return check(attribute.i());
}

/// Takes the spaces out of an Einsum's equation, and refuses what is not
/// "ab...,bc->ac": shape inference does not come to an end on other characters.
Status checkEquation(const onnx::NodeProto &node,
                     onnx::AttributeProto &attribute) {
  std::string &equation = *attribute.mutable_s();
  equation.erase(std::remove(equation.begin(), equation.end(), ' '),
                 equation.end());
  bool arrow = false;
  bool ellipsis = false; // in this term
  for (std::string_view rest = equation; !rest.empty();) {
    char c = rest[0];
    if (rest.substr(0, 2) == "->" && !arrow) {
      arrow = true;
      ellipsis = false;
      rest.remove_prefix(2);
    } else if (rest.substr(0, 3) == "..." && !ellipsis) {
      ellipsis = true;
      rest.remove_prefix(3);
    } else if (c == ',' && !arrow) {
      ellipsis = false;
      rest.remove_prefix(1);
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      rest.remove_prefix(1);
    } else {
      return attributeError(node, attribute.name(),
                            "is '" + equation +
                                "', which is no equation of labels (letters), "
                                "commas, '...' and one '->'");
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

} // namespace

Status checkAttributes(const Body &body, onnx::NodeProto &node) {
  fillAttributeTypes(node);
  for (int i = 0; i < node.attribute_size(); ++i) {
    onnx::AttributeProto &attribute = *node.mutable_attribute(i);
    for (int j = 0; j < i; ++j) {
      if (node.attribute(j).name() == attribute.name()) {
        return attributeError(node, attribute.name(), "is given twice");
      }
    }
    TW_RETURN_IF_ERROR(checkReference(body, node, attribute));
    TW_RETURN_IF_ERROR(checkValue(node, attribute));
    if (canonicalDomain(node.domain()).empty()) {
      TW_RETURN_IF_ERROR(checkPositive(node, attribute));
      TW_RETURN_IF_ERROR(checkAxes(node, attribute));
      if (node.op_type() == "Einsum" && attribute.has_s()) {
        TW_RETURN_IF_ERROR(checkEquation(node, attribute));
      }
    }
  }
  return Status::ok();
}

} // namespace tilewright
