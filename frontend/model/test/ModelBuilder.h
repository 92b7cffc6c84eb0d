//===- ModelBuilder.h - small models for tests ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/model/Model.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilewright::test {

using Strings = std::vector<std::string>;
using Sizes = std::vector<int64_t>;

inline onnx::AttributeProto attribute(const std::string &name, int64_t value) {
  onnx::AttributeProto result;
  result.set_name(name);
  result.set_type(onnx::AttributeProto::INT);
  result.set_i(value);
  return result;
}

inline onnx::AttributeProto attribute(const std::string &name,
                                      const Sizes &values) {
  onnx::AttributeProto result;
  result.set_name(name);
  result.set_type(onnx::AttributeProto::INTS);
  result.mutable_ints()->Add(values.begin(), values.end());
  return result;
}

inline onnx::AttributeProto attribute(const std::string &name,
                                      const onnx::GraphProto &graph) {
  onnx::AttributeProto result;
  result.set_name(name);
  result.set_type(onnx::AttributeProto::GRAPH);
  *result.mutable_g() = graph;
  return result;
}

inline onnx::AttributeProto reference(const std::string &name,
                                      onnx::AttributeProto::AttributeType type,
                                      const std::string &of) {
  onnx::AttributeProto result;
  result.set_name(name);
  result.set_type(type);
  result.set_ref_attr_name(of);
  return result;
}

inline onnx::NodeProto
node(const std::string &op, const Strings &inputs, const Strings &outputs,
     const std::vector<onnx::AttributeProto> &attributes = {}) {
  onnx::NodeProto result;
  result.set_op_type(op);
  for (const std::string &input : inputs) {
    result.add_input(input);
  }
  for (const std::string &output : outputs) {
    result.add_output(output);
  }
  for (const onnx::AttributeProto &each : attributes) {
    *result.add_attribute() = each;
  }
  return result;
}

inline onnx::ValueInfoProto value(const std::string &name, const Sizes &dims,
                                  int type = onnx::TensorProto::FLOAT) {
  onnx::ValueInfoProto result;
  result.set_name(name);
  auto *tensor = result.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  auto *shape = tensor->mutable_shape();
  for (int64_t dim : dims) {
    shape->add_dim()->set_dim_value(dim);
  }
  return result;
}

inline onnx::TensorProto tensor(const std::string &name, const Sizes &dims,
                                int type, const std::string &raw) {
  onnx::TensorProto result;
  result.set_name(name);
  result.mutable_dims()->Add(dims.begin(), dims.end());
  result.set_data_type(type);
  result.set_raw_data(raw);
  return result;
}

inline onnx::GraphProto graph(const std::vector<onnx::ValueInfoProto> &inputs,
                              const std::vector<onnx::ValueInfoProto> &outputs,
                              const std::vector<onnx::NodeProto> &nodes) {
  onnx::GraphProto result;
  result.set_name("g");
  for (const auto &each : inputs) {
    *result.add_input() = each;
  }
  for (const auto &each : outputs) {
    *result.add_output() = each;
  }
  for (const auto &each : nodes) {
    *result.add_node() = each;
  }
  return result;
}

/// A model of operator set 18.
inline onnx::ModelProto model(const onnx::GraphProto &graph) {
  onnx::ModelProto result;
  result.set_ir_version(9);
  result.add_opset_import()->set_version(18);
  *result.mutable_graph() = graph;
  return result;
}

/// x[2] through `nodes` to y[2].
inline onnx::ModelProto model(const std::vector<onnx::NodeProto> &nodes) {
  return model(graph({value("x", {2})}, {value("y", {2})}, nodes));
}

/// A function of domain "local" over operator set 18, imported by `model`.
inline onnx::FunctionProto *
addFunction(onnx::ModelProto &model, const std::string &name,
            const Strings &inputs, const Strings &outputs,
            const std::vector<onnx::NodeProto> &nodes) {
  auto *import = model.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  onnx::FunctionProto *function = model.add_functions();
  function->set_name(name);
  function->set_domain("local");
  function->add_opset_import()->set_version(18);
  import = function->add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  for (const std::string &input : inputs) {
    function->add_input(input);
  }
  for (const std::string &output : outputs) {
    function->add_output(output);
  }
  for (const onnx::NodeProto &each : nodes) {
    *function->add_node() = each;
  }
  return function;
}

inline onnx::NodeProto
call(const std::string &function, const Strings &inputs, const Strings &outputs,
     const std::vector<onnx::AttributeProto> &attributes = {}) {
  onnx::NodeProto result = node(function, inputs, outputs, attributes);
  result.set_domain("local");
  return result;
}

/// Expects `model` to be refused with `code` and a message that has all of
/// `texts` in it.
inline void expectRefused(const onnx::ModelProto &model, ErrorCode code,
                          const Strings &texts) {
  Result<LoadedModel> loaded = loadModel(model);
  ASSERT_FALSE(loaded.isOk());
  EXPECT_EQ(loaded.status().code(), code) << loaded.status().message();
  for (const std::string &text : texts) {
    EXPECT_NE(loaded.status().message().find(text), std::string::npos)
        << "no '" << text << "' in: " << loaded.status().message();
  }
}

inline void expectLoads(const onnx::ModelProto &model) {
  Result<LoadedModel> loaded = loadModel(model);
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
}

} // namespace tilewright::test
