//===- ExpandFunctionTest.cpp - operators written as nodes ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/test/ModelBuilder.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

ExpandedFunction expand(const onnx::ModelProto &built,
                        const onnx::NodeProto &caller,
                        const std::vector<onnx::TypeProto> &types = {}) {
  Result<LoadedModel> loaded = loadModel(built);
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
  if (!loaded) {
    return {};
  }
  EXPECT_TRUE(loaded->hasFunction(caller, loaded->opsets()));
  auto expanded = loaded->expandFunction(caller, loaded->opsets(), types);
  EXPECT_TRUE(expanded.isOk()) << expanded.status().message();
  return expanded ? *expanded : ExpandedFunction{};
}

TEST(ExpandFunction, RenamesValuesAndNodes) {
  auto caller = call("f", {"x"}, {"y"});
  caller.set_name("outer");
  auto built = model({caller});
  auto inner = node("Relu", {"a"}, {"t"});
  inner.set_name("act");
  addFunction(built, "f", {"a"}, {"b"}, {inner, node("Neg", {"t"}, {"b"})});
  ExpandedFunction body = expand(built, caller);
  ASSERT_EQ(body.nodes.size(), 2u);
  EXPECT_EQ(body.nodes[0].name(), "outer/act");
  EXPECT_EQ(body.nodes[1].name(), "outer/Neg:b");
  EXPECT_EQ(body.nodes[0].input(0), "x");
  EXPECT_EQ(body.nodes[0].output(0), body.nodes[1].input(0));
  EXPECT_EQ(body.nodes[0].output(0), "y::t");
  EXPECT_EQ(body.nodes[1].output(0), "y");
  EXPECT_EQ(body.opsets.at(""), 18);
}

TEST(ExpandFunction, BindsAttributes) {
  auto caller = call("f", {"x"}, {"y"}, {attribute("given", int64_t{0})});
  auto built = model({caller});
  auto *function = addFunction(
      built, "f", {"a"}, {"b"},
      {node("Softmax", {"a"}, {"t"},
            {reference("axis", onnx::AttributeProto::INT, "given")}),
       node("Softmax", {"t"}, {"u"},
            {reference("axis", onnx::AttributeProto::INT, "fallback")}),
       node("Softmax", {"u"}, {"b"},
            {reference("axis", onnx::AttributeProto::INT, "absent")})});
  function->add_attribute("given");
  function->add_attribute("absent");
  *function->add_attribute_proto() = attribute("fallback", int64_t{-1});
  ExpandedFunction body = expand(built, caller);
  ASSERT_EQ(body.nodes.size(), 3u);
  EXPECT_EQ(body.nodes[0].attribute(0).i(), 0);
  EXPECT_EQ(body.nodes[1].attribute(0).i(), -1);
  EXPECT_EQ(body.nodes[1].attribute(0).name(), "axis");
  EXPECT_EQ(body.nodes[2].attribute_size(), 0);
}

TEST(ExpandFunction, LeavesOutWhatTheCallerLeavesOut) {
  auto caller = call("f", {"x"}, {"y"});
  auto built = model({caller});
  addFunction(
      built, "f", {"a", "low"}, {"b", "unused"},
      {node("Clip", {"a", "low"}, {"b"}), node("Neg", {"a"}, {"unused"})});
  ExpandedFunction body = expand(built, caller);
  ASSERT_EQ(body.nodes.size(), 2u);
  EXPECT_EQ(body.nodes[0].input(1), "");
  EXPECT_EQ(body.nodes[1].output(0), "y::unused");
}

TEST(ExpandFunction, HandsOnInputs) {
  auto caller = call("f", {"x"}, {"y", "z"});
  auto built = model({caller});
  addFunction(built, "f", {"a"}, {"b", "a"}, {node("Neg", {"a"}, {"b"})});
  ExpandedFunction body = expand(built, caller);
  ASSERT_EQ(body.nodes.size(), 2u);
  EXPECT_EQ(body.nodes[1].op_type(), "Identity");
  EXPECT_EQ(body.nodes[1].input(0), "x");
  EXPECT_EQ(body.nodes[1].output(0), "z");
}

TEST(ExpandFunction, RenamesInsideBranches) {
  auto caller = call("f", {"c", "x"}, {"y"});
  auto built = model(
      graph({value("x", {2}), value("c", {}, 9)}, {value("y", {2})}, {caller}));
  // The else branch defines "a" again, which must not become the caller's "x".
  auto thenGraph = graph({}, {value("t", {2})}, {node("Neg", {"a"}, {"t"})});
  auto elseGraph = graph({}, {value("a", {2})}, {node("Abs", {"k"}, {"a"})});
  addFunction(built, "f", {"k0", "a"}, {"b"},
              {node("Relu", {"a"}, {"k"}),
               node("If", {"k0"}, {"b"},
                    {attribute("then_branch", thenGraph),
                     attribute("else_branch", elseGraph)})});
  ExpandedFunction body = expand(built, caller);
  ASSERT_EQ(body.nodes.size(), 2u);
  const auto &first = body.nodes[1].attribute(0).g();
  EXPECT_EQ(first.node(0).input(0), "x");
  EXPECT_EQ(first.node(0).output(0), "y::t");
  EXPECT_EQ(first.output(0).name(), "y::t");
  const auto &second = body.nodes[1].attribute(1).g();
  EXPECT_EQ(second.node(0).input(0), "y::k");
  EXPECT_EQ(second.node(0).output(0), "y::a");
  EXPECT_EQ(second.output(0).name(), "y::a");
}

TEST(ExpandFunction, KnowsTheBodiesOfOnnx) {
  auto caller = node("Softplus", {"x"}, {"y"});
  ExpandedFunction body = expand(model({caller}), caller);
  ASSERT_GE(body.nodes.size(), 3u);
  EXPECT_EQ(body.nodes.back().output(0), "y");
}

TEST(ExpandFunction, UsesTheTypesOfOperands) {
  auto caller = node("Clip", {"x", "", "high"}, {"y"});
  auto built = model(
      graph({value("x", {2}), value("high", {})}, {value("y", {2})}, {caller}));
  onnx::TypeProto type = value("x", {2}).type();
  ExpandedFunction body = expand(built, caller, {type, {}, type});
  EXPECT_FALSE(body.nodes.empty());
}

TEST(ExpandFunction, NeedsTheTypesOfOperands) {
  auto caller = node("Clip", {"x", "", "high"}, {"y"});
  auto loaded = loadModel(model({node("Relu", {"x"}, {"y"})}));
  ASSERT_TRUE(loaded.isOk());
  auto expanded = loaded->expandFunction(caller, loaded->opsets(), {});
  ASSERT_FALSE(expanded.isOk());
  EXPECT_EQ(expanded.status().code(), ErrorCode::UnsupportedOperator);
}

TEST(ExpandFunction, SaysWhenThereIsNone) {
  auto caller = node("Conv", {"x", "w"}, {"y"});
  auto loaded = loadModel(model({node("Relu", {"x"}, {"y"})}));
  ASSERT_TRUE(loaded.isOk());
  EXPECT_FALSE(loaded->hasFunction(caller, loaded->opsets()));
  auto expanded = loaded->expandFunction(caller, loaded->opsets(), {});
  ASSERT_FALSE(expanded.isOk());
  EXPECT_EQ(expanded.status().code(), ErrorCode::UnsupportedOperator);
}

} // namespace
