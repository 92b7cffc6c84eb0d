//===- ExpandFunction.cpp - operators written as nodes ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Model.h"

#include "frontend/model/Bodies.h"

#include "onnx/defs/schema.h"
#include "onnx/shape_inference/attribute_binder.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tilewright {
namespace {

/// Gives the values and nodes of a function's body the names that they have in
/// the caller's graph.
class Renamer {
public:
  using Names = std::unordered_map<std::string, std::string>;

  Renamer(std::string valuePrefix, std::string nodePrefix)
      : valuePrefix(std::move(valuePrefix)), nodePrefix(std::move(nodePrefix)) {
  }

  std::string inner(const std::string &name) const {
    return name.empty() ? name : valuePrefix + name;
  }

  void rename(onnx::NodeProto &node, const Names &names) const {
    node.set_name(nodePrefix + nodeName(node));
    for (std::string &input : *node.mutable_input()) {
      input = lookUp(input, names);
    }
    for (std::string &output : *node.mutable_output()) {
      output = lookUp(output, names);
    }
    for (onnx::GraphProto *graph : subgraphs(node)) {
      rename(*graph, names);
    }
  }

private:
  std::string lookUp(const std::string &name, const Names &names) const {
    auto found = names.find(name);
    return found != names.end() ? found->second : inner(name);
  }

  /// A graph inside the body may define a name again.
  void rename(onnx::GraphProto &graph, Names names) const {
    auto define = [&](std::string &name) {
      names[name] = inner(name);
      name = names[name];
    };
    for (onnx::ValueInfoProto &input : *graph.mutable_input()) {
      define(*input.mutable_name());
    }
    for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
      define(*tensor.mutable_name());
    }
    for (const onnx::NodeProto &node : graph.node()) {
      for (const std::string &output : node.output()) {
        names[output] = inner(output);
      }
    }
    for (onnx::NodeProto &node : *graph.mutable_node()) {
      rename(node, names);
    }
    for (onnx::ValueInfoProto &output : *graph.mutable_output()) {
      output.set_name(lookUp(output.name(), names));
    }
    // Inferred for other names; the importer infers anew.
    graph.clear_value_info();
  }

  std::string valuePrefix;
  std::string nodePrefix;
};

/// \returns the attributes that the body may refer to, by name.
onnx::internal::AttributeMap
boundAttributes(const onnx::NodeProto &node,
                const onnx::FunctionProto &function,
                const onnx::OpSchema *schema) {
  onnx::internal::AttributeMap attributes;
  if (schema != nullptr) {
    for (const auto &[name, attribute] : schema->attributes()) {
      if (attribute.default_value.type() != onnx::AttributeProto::UNDEFINED) {
        attributes[name] = &attribute.default_value;
      }
    }
  }
  for (const onnx::AttributeProto &attribute : function.attribute_proto()) {
    attributes[attribute.name()] = &attribute;
  }
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    attributes[attribute.name()] = &attribute;
  }
  return attributes;
}

onnx::NodeProto identity(const std::string &from, const std::string &to,
                         const std::string &name) {
  onnx::NodeProto node;
  node.set_op_type("Identity");
  node.set_name(name);
  node.add_input(from);
  node.add_output(to);
  return node;
}

/// Writes the call `node` as the nodes of `function`.
std::vector<onnx::NodeProto> instantiate(const onnx::NodeProto &node,
                                         onnx::FunctionProto function,
                                         const onnx::OpSchema *schema) {
  std::string firstOutput;
  for (const std::string &output : node.output()) {
    if (firstOutput.empty()) {
      firstOutput = output;
    }
  }
  std::string caller = nodeName(node);
  Renamer renamer((firstOutput.empty() ? caller : firstOutput) + "::",
                  caller + "/");

  Renamer::Names names;
  for (int i = 0; i < function.input_size(); ++i) {
    names[function.input(i)] = i < node.input_size() ? node.input(i) : "";
  }
  std::vector<onnx::NodeProto> copies;
  for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
    if (node.output(i).empty()) {
      continue; // an inner value that the caller does not want
    }
    const std::string &name = function.output(i);
    auto [entry, isNew] = names.emplace(name, node.output(i));
    if (!isNew) {
      // The function hands on an input, or one value as two outputs.
      copies.push_back(identity(entry->second, node.output(i),
                                caller + "/Identity:" + name));
    }
  }

  // Attributes come after the names: graphs among them use the caller's names.
  auto attributes = boundAttributes(node, function, schema);
  onnx::internal::AttributeBinder binder(attributes);
  std::vector<onnx::NodeProto> nodes;
  for (onnx::NodeProto &inner : *function.mutable_node()) {
    renamer.rename(inner, names);
    binder.VisitNode(inner);
    nodes.push_back(std::move(inner));
  }
  nodes.insert(nodes.end(), copies.begin(), copies.end());
  return nodes;
}

/// \returns ONNX's body of the operator at the imported version, if any.
std::optional<onnx::FunctionProto>
schemaBody(const onnx::NodeProto &node, const onnx::OpSchema &schema,
           int version, const std::vector<onnx::TypeProto> &inputTypes) {
  if (const onnx::FunctionProto *body = schema.GetFunction(version)) {
    return *body;
  }
  if (!schema.HasContextDependentFunction()) {
    return std::nullopt;
  }
  for (int i = 0; i < node.input_size(); ++i) {
    bool known = size_t(i) < inputTypes.size() &&
                 inputTypes[i].value_case() != onnx::TypeProto::VALUE_NOT_SET;
    if (!known && !node.input(i).empty()) {
      return std::nullopt; // builders rely on types, without looking
    }
  }
  onnx::FunctionBodyBuildContextImpl context(node, inputTypes);
  onnx::FunctionProto body;
  if (!schema.BuildContextDependentFunction(context, body, version)) {
    return std::nullopt;
  }
  return body;
}

} // namespace

bool LoadedModel::hasFunction(const onnx::NodeProto &node,
                              const OpsetImports &opsets) const {
  if (function(node) != nullptr) {
    return true;
  }
  const onnx::OpSchema *schema = schemaOf(node, opsets);
  if (schema == nullptr) {
    return false;
  }
  // Bodies are given from some version on, which may be newer than this one.
  auto version = static_cast<int>(opsets.at(canonicalDomain(node.domain())));
  std::vector<int> builders =
      schema->context_dependent_function_opset_versions();
  return schema->GetFunction(version) != nullptr ||
         std::any_of(builders.begin(), builders.end(),
                     [&](int first) { return first <= version; });
}

Result<ExpandedFunction>
LoadedModel::expandFunction(const onnx::NodeProto &node,
                            const OpsetImports &opsets,
                            const std::vector<onnx::TypeProto> &types) const {
  ExpandedFunction expanded;
  if (const onnx::FunctionProto *local = function(node)) {
    expanded.opsets = importsOf(*local);
    expanded.nodes = instantiate(node, *local, nullptr);
    return expanded;
  }
  const onnx::OpSchema *schema = schemaOf(node, opsets);
  if (schema == nullptr) {
    return Status(ErrorCode::UnsupportedOperator,
                  describe(node) + ": the operator is unknown");
  }
  auto version = opsets.find(canonicalDomain(node.domain()));
  std::optional<onnx::FunctionProto> body;
  std::string reason = "ONNX does not define it by other operators";
  try {
    body = schemaBody(node, *schema, static_cast<int>(version->second), types);
    if (schema->HasContextDependentFunction()) {
      reason += " for operands of these types";
    }
  } catch (const std::exception &error) {
    reason = error.what();
  }
  if (!body) {
    return Status(ErrorCode::UnsupportedOperator,
                  describe(node) + " cannot be expanded: " + reason);
  }
  if (node.input_size() > body->input_size() ||
      node.output_size() > body->output_size()) {
    return Status(ErrorCode::ModelInvalid,
                  describe(node) + " has more operands than its operator");
  }
  expanded.opsets = importsOf(*body);
  // Some bodies use operator sets that they forget to import.
  expanded.opsets.insert(opsets.begin(), opsets.end());
  expanded.nodes = instantiate(node, std::move(*body), schema);
  return expanded;
}

} // namespace tilewright
