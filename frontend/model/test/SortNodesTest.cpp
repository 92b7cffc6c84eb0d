//===- SortNodesTest.cpp - names, order and functions -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/test/ModelBuilder.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

onnx::GraphProto branch(const std::string &reads, const std::string &output) {
  return graph({}, {value(output, {2})}, {node("Relu", {reads}, {output})});
}

onnx::NodeProto conditional(const std::string &condition,
                            const std::string &reads,
                            const std::string &output) {
  return node("If", {condition}, {output},
              {attribute("then_branch", branch(reads, "t")),
               attribute("else_branch", branch("x", "e"))});
}

TEST(SortNodes, SortsWhatIsOnlyUnsorted) {
  auto loaded =
      loadModel(model({node("Neg", {"b"}, {"y"}), node("Abs", {"a"}, {"b"}),
                       node("Relu", {"x"}, {"a"})}));
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_EQ(loaded->graph().node(0).op_type(), "Relu");
  EXPECT_EQ(loaded->graph().node(1).op_type(), "Abs");
  EXPECT_EQ(loaded->graph().node(2).op_type(), "Neg");
}

TEST(SortNodes, KeepsTheOrderOfSortedNodes) {
  auto loaded = loadModel(
      model({node("Relu", {"x"}, {"a"}), node("Abs", {"x"}, {"b"}),
             node("Neg", {"a"}, {"c"}), node("Add", {"b", "c"}, {"y"})}));
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_EQ(loaded->graph().node(0).op_type(), "Relu");
  EXPECT_EQ(loaded->graph().node(1).op_type(), "Abs");
  EXPECT_EQ(loaded->graph().node(2).op_type(), "Neg");
}

TEST(SortNodes, CountsWhatBranchesRead) {
  auto built = model(
      graph({value("x", {2}), value("c", {}, 9)}, {value("y", {2})},
            {conditional("c", "late", "y"), node("Neg", {"x"}, {"late"})}));
  auto loaded = loadModel(built);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_EQ(loaded->graph().node(0).op_type(), "Neg");
  EXPECT_EQ(loaded->graph().node(1).op_type(), "If");
}

TEST(SortNodes, NamesTheNodesOfACycle) {
  expectRefused(model({node("Add", {"x", "q"}, {"p"}),
                       node("Relu", {"p"}, {"q"}), node("Neg", {"q"}, {"y"})}),
                ErrorCode::GraphNotSorted, {"cycle", "Add:p", "Relu:q"});
  expectRefused(model({node("Add", {"x", "y"}, {"y"})}),
                ErrorCode::GraphNotSorted, {"cycle", "Add:y"});
}

TEST(SortNodes, FindsACycleThroughABranch) {
  auto built = model(graph({value("x", {2}), value("c", {}, 9)},
                           {value("y", {2})}, {conditional("c", "y", "y")}));
  expectRefused(built, ErrorCode::GraphNotSorted, {"cycle", "If:y"});
}

TEST(SortNodes, RefusesASecondDefinition) {
  expectRefused(model({node("Relu", {"x"}, {"y"}), node("Neg", {"x"}, {"y"})}),
                ErrorCode::ModelInvalid,
                {"'y'", "defined twice", "Relu:y", "Neg:y"});
  expectRefused(model({node("Relu", {"x"}, {"x"})}), ErrorCode::ModelInvalid,
                {"'x'", "defined twice"});
}

TEST(SortNodes, RefusesUnknownNames) {
  expectRefused(model({node("Relu", {"nowhere"}, {"y"})}),
                ErrorCode::ModelInvalid, {"Relu:y", "nowhere"});
  expectRefused(model({node("Relu", {"x"}, {"z"})}), ErrorCode::ModelInvalid,
                {"output 'y'", "nothing defines"});
}

TEST(SortNodes, AcceptsInitializersThatRepeat) {
  auto built = model({node("Add", {"x", "w"}, {"y"})});
  auto weight = tensor("w", {2}, onnx::TensorProto::FLOAT, std::string(8, 'a'));
  *built.mutable_graph()->add_initializer() = weight;
  *built.mutable_graph()->add_initializer() = weight;
  auto loaded = loadModel(built);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_EQ(loaded->graph().initializer_size(), 1);
  built.mutable_graph()->mutable_initializer(1)->set_raw_data("bbbbbbbb");
  expectRefused(built, ErrorCode::ModelInvalid, {"'w'", "defined twice"});
}

TEST(SortNodes, KnowsInputsWithDefaults) {
  auto built =
      model(graph({value("x", {2}), value("w", {2})}, {value("y", {2})},
                  {node("Add", {"x", "w"}, {"y"})}));
  *built.mutable_graph()->add_initializer() =
      tensor("w", {2}, onnx::TensorProto::FLOAT, std::string(8, 'a'));
  auto loaded = loadModel(built);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_TRUE(loaded->hasDefault("w"));
  EXPECT_FALSE(loaded->hasDefault("x"));
}

TEST(Functions, MustNotRecurse) {
  auto built = model({call("f", {"x"}, {"y"})});
  addFunction(built, "f", {"a"}, {"b"}, {call("g", {"a"}, {"b"})});
  addFunction(built, "g", {"a"}, {"b"}, {call("f", {"a"}, {"b"})});
  expectRefused(built, ErrorCode::ModelInvalid, {"recursion"});
}

TEST(Functions, MustNotExplode) {
  auto built = model({call("f0", {"x"}, {"y"})});
  for (int level = 0; level < 40; ++level) {
    std::string next = "f" + std::to_string(level + 1);
    addFunction(built, "f" + std::to_string(level), {"a"}, {"c"},
                {call(next, {"a"}, {"b"}), call(next, {"b"}, {"c"})});
  }
  addFunction(built, "f40", {"a"}, {"b"}, {node("Relu", {"a"}, {"b"})});
  expectRefused(built, ErrorCode::ModelInvalid, {"expanded"});
}

TEST(Functions, BodiesAreChecked) {
  auto built = model({call("f", {"x"}, {"y"})});
  addFunction(built, "f", {"a"}, {"b"}, {node("Relu", {"q"}, {"b"})});
  expectRefused(built, ErrorCode::ModelInvalid, {"'f'", "'q'"});
}

TEST(Bodies, AreNotNestedWithoutEnd) {
  onnx::GraphProto inner = branch("x", "t");
  for (int depth = 0; depth < 100; ++depth) {
    inner = graph({}, {value("t", {2})},
                  {node("If", {"c"}, {"t"},
                        {attribute("then_branch", inner),
                         attribute("else_branch", branch("x", "e"))})});
  }
  auto built =
      model(graph({value("x", {2}), value("c", {}, 9)}, {value("y", {2})},
                  {node("If", {"c"}, {"y"},
                        {attribute("then_branch", inner),
                         attribute("else_branch", inner)})}));
  expectRefused(built, ErrorCode::ModelInvalid, {"nested"});
}

} // namespace
