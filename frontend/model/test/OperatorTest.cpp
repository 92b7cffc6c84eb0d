//===- OperatorTest.cpp - operators, attributes and types -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/test/ModelBuilder.h"

#include "onnx/defs/schema.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

TEST(Operators, UnknownOnesAreNamed) {
  expectRefused(model({node("NoSuchOp", {"x"}, {"y"})}),
                ErrorCode::UnsupportedOperator, {"NoSuchOp:y", "18"});
  auto foreign = node("Gelu", {"x"}, {"y"});
  foreign.set_domain("com.example");
  expectRefused(model({foreign}), ErrorCode::UnsupportedOperator,
                {"com.example.Gelu", "not import"});
}

TEST(Operators, NewerVersionsAreUnsupported) {
  auto built = model({node("Relu", {"x"}, {"y"})});
  built.mutable_opset_import(0)->set_version(999);
  expectRefused(built, ErrorCode::UnsupportedVersion, {"999", "ai.onnx"});
  built = model({node("Relu", {"x"}, {"y"})});
  built.set_ir_version(999);
  expectRefused(built, ErrorCode::UnsupportedVersion, {"999"});
}

TEST(Operators, SchemasFollowTheImportedVersion) {
  auto relu = node("Relu", {"x"}, {"y"});
  EXPECT_EQ(schemaOf(relu, {{"", 6}})->since_version(), 6);
  EXPECT_EQ(schemaOf(relu, {{"", 18}})->since_version(), 14);
  relu.set_domain("ai.onnx");
  EXPECT_EQ(schemaOf(relu, {{"", 18}})->since_version(), 14);
  EXPECT_EQ(schemaOf(relu, {}), nullptr);
}

TEST(Attributes, AreHeldAgainstTheOperator) {
  expectRefused(
      model({node("Relu", {"x"}, {"y"}, {attribute("nonsense", int64_t{1})})}),
      ErrorCode::AttributeInvalid, {"Relu:y", "nonsense"});
  expectRefused(
      model({node("Softmax", {"x"}, {"y"}, {attribute("axis", Sizes{1})})}),
      ErrorCode::AttributeInvalid, {"Softmax:y", "axis"});
  expectRefused(model({node("Softmax", {"x"}, {"y"},
                            {attribute("axis", int64_t{0}),
                             attribute("axis", int64_t{0})})}),
                ErrorCode::AttributeInvalid, {"axis", "twice"});
  expectRefused(model({node("Cast", {"x"}, {"y"})}),
                ErrorCode::AttributeInvalid, {"Cast:y", "to"});
}

TEST(Attributes, ThatDivideAreNotZero) {
  auto built = model(graph(
      {value("x", {1, 1, 4}), value("w", {1, 1, 2})}, {value("y", {1, 1, 3})},
      {node("Conv", {"x", "w"}, {"y"}, {attribute("strides", Sizes{0})})}));
  expectRefused(built, ErrorCode::AttributeInvalid, {"strides", "positive"});
}

TEST(Attributes, ThatNameAxesAreSmall) {
  expectRefused(model({node("LayerNormalization", {"x", "x"}, {"y"},
                            {attribute("axis", int64_t{0x7ffffffffffffffe})})}),
                ErrorCode::AttributeInvalid, {"axis", "LayerNormalization:y"});
}

TEST(Attributes, HoldEquationsThatEnd) {
  auto einsum = [](const std::string &equation) {
    onnx::AttributeProto text;
    text.set_name("equation");
    text.set_type(onnx::AttributeProto::STRING);
    text.set_s(equation);
    return model({node("Einsum", {"x", "x"}, {"y"}, {text})});
  };
  expectLoads(einsum("i, i -> i"));
  expectLoads(einsum("...i,...i->...i"));
  for (const char *wrong :
       {"i,1->i", "i,i->i->i", "i......,i->i", "i,i-", "\xaf,i"}) {
    expectRefused(einsum(wrong), ErrorCode::AttributeInvalid, {"equation"});
  }
}

TEST(Attributes, OfAFunctionNeedOne) {
  expectRefused(
      model({node("Softmax", {"x"}, {"y"},
                  {reference("axis", onnx::AttributeProto::INT, "a")})}),
      ErrorCode::AttributeInvalid, {"axis", "function"});
}

TEST(Operands, AreCounted) {
  expectRefused(model({node("Add", {"x"}, {"y"})}), ErrorCode::ModelInvalid,
                {"Add:y", "input size 1"});
}

TEST(Operands, MustFitInShape) {
  auto built =
      model(graph({value("a", {}), value("b", {3, 4})}, {value("y", {4, 4})},
                  {node("Gemm", {"a", "b"}, {"y"})}));
  expectRefused(built, ErrorCode::ShapeMismatch, {"Gemm:y", "rank"});
}

TEST(Operands, MustFitInType) {
  auto built =
      model(graph({value("a", {2}), value("b", {2}, onnx::TensorProto::INT64)},
                  {value("y", {2})}, {node("Add", {"a", "b"}, {"y"})}));
  expectRefused(built, ErrorCode::TypeMismatch, {"Add:y"});
}

TEST(Operands, MustFitInBranches) {
  auto body = graph({}, {value("t", {2})}, {node("MatMul", {"x", "w"}, {"t"})});
  auto built =
      model(graph({value("x", {2, 3}), value("w", {2, 3}), value("c", {}, 9)},
                  {value("y", {2})},
                  {node("If", {"c"}, {"y"},
                        {attribute("then_branch", body),
                         attribute("else_branch", body)})}));
  expectRefused(built, ErrorCode::ShapeMismatch, {"MatMul:t"});
}

TEST(DeclaredTypes, MustBeKnown) {
  auto built = model(graph({value("x", {2}, 77)}, {value("y", {2})},
                           {node("Relu", {"x"}, {"y"})}));
  expectRefused(built, ErrorCode::TypeMismatch, {"'x'", "type 77"});
}

TEST(DeclaredTypes, OfResultsMayBeWrong) {
  auto built =
      model(graph({value("x", {2, 3})}, {value("y", {7})},
                  {node("Relu", {"x"}, {"t"}), node("Neg", {"t"}, {"y"})}));
  *built.mutable_graph()->add_value_info() = value("t", {1, 2, 3, 4});
  auto loaded = loadModel(built);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  // The declaration stays, what was inferred stands beside it.
  EXPECT_EQ(loaded->graph().output(0).type().tensor_type().shape().dim_size(),
            1);
  for (const auto &info : loaded->graph().value_info()) {
    EXPECT_EQ(info.type().tensor_type().shape().dim_size(), 2) << info.name();
  }
  EXPECT_EQ(loaded->graph().value_info_size(), 2);
}

TEST(DeclaredTypes, HaveSymbolsAndAnonymousSizes) {
  onnx::TensorShapeProto::Dimension dim;
  EXPECT_TRUE(std::holds_alternative<AnonymousDim>(declaredDim(dim)));
  dim.set_dim_param("?");
  EXPECT_TRUE(std::holds_alternative<AnonymousDim>(declaredDim(dim)));
  dim.set_dim_value(-1);
  EXPECT_TRUE(std::holds_alternative<AnonymousDim>(declaredDim(dim)));
  dim.set_dim_param("N");
  EXPECT_EQ(std::get<std::string>(declaredDim(dim)), "N");
  dim.set_dim_value(0);
  EXPECT_EQ(std::get<int64_t>(declaredDim(dim)), 0);
}

TEST(Names, FallBackToTheFirstOutput) {
  EXPECT_EQ(nodeName(node("Split", {"x"}, {"", "b"})), "Split:b");
  auto named = node("Relu", {"x"}, {"y"});
  named.set_name("act");
  EXPECT_EQ(nodeName(named), "act");
  EXPECT_EQ(describe(named), "node 'act' (Relu)");
}

} // namespace
