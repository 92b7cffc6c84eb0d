//===- ControlFlowTest.cpp - If, Loop and Scan ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/test/ImportHelpers.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr int boolean = onnx::TensorProto::BOOL;
constexpr int int64 = onnx::TensorProto::INT64;

onnx::ModelProto ifModel(const onnx::ValueInfoProto &condition,
                         const onnx::GraphProto &thenGraph,
                         const onnx::GraphProto &elseGraph, int rank) {
  return model(graph({symbolic("x", {"N", "4"}), condition},
                     {symbolic("y", Strings(rank, ""))},
                     {node("If", {"c"}, {"y"},
                           {attribute("then_branch", thenGraph),
                            attribute("else_branch", elseGraph)})}));
}

onnx::GraphProto branch(const std::string &op, const std::string &result) {
  return graph({}, {symbolic(result, {"", ""})}, {node(op, {"x"}, {result})});
}

TEST(ImportIf, KeepsEqualSizes) {
  Imported imported =
      expectTypes(ifModel(value("c", {}, boolean), branch("Neg", "t"),
                          branch("Abs", "e"), 2),
                  {"tensor<?x4xf32, #tw.dims<[N, 4]>>"});
  EXPECT_TRUE(imported.has("tw.if"));
}

TEST(ImportIf, NamesDifferentSizes) {
  auto doubled = graph(
      {}, {symbolic("e", {"", ""})},
      {node("Concat", {"x", "x"}, {"e"}, {attribute("axis", int64_t{0})})});
  Imported imported = expectTypes(
      ifModel(value("c", {}, boolean), branch("Neg", "t"), doubled, 2),
      {"tensor<?x4xf32, #tw.dims<[u0, 4]>>"});
  EXPECT_TRUE(imported.has("defines = [\"u0\"]")) << imported.text;
}

TEST(ImportIf, TakesAKnownBranch) {
  // x has four columns: the comparison is decided here.
  auto g = graph({symbolic("x", {"N", "4"})}, {symbolic("y", {"", ""})},
                 {node("Shape", {"x"}, {"s"}, {attribute("start", int64_t{1})}),
                  node("Equal", {"s", "four"}, {"c"}),
                  node("If", {"c"}, {"y"},
                       {attribute("then_branch", branch("Neg", "t")),
                        attribute("else_branch", branch("Unknown", "e"))})});
  auto built = modelWith(g, {integers("four", {4})});
  built.mutable_graph()
      ->mutable_node(2)
      ->mutable_attribute(1)
      ->mutable_g()
      ->mutable_node(0)
      ->set_op_type("Abs");
  Imported imported = expectTypes(built, {"tensor<?x4xf32, #tw.dims<[N, 4]>>"});
  EXPECT_FALSE(imported.has("tw.if"));
}

TEST(ImportLoop, FindsSizesThatGrow) {
  // v = Concat(v, x), stacked: the sum of each iteration.
  auto body =
      graph({value("i", {}, int64), value("c", {}, boolean),
             symbolic("v", {"", "4"})},
            {value("d", {}, boolean), symbolic("w", {"", ""}),
             symbolic("s", {"", ""})},
            {node("Identity", {"c"}, {"d"}),
             node("Concat", {"v", "x"}, {"w"}, {attribute("axis", int64_t{0})}),
             node("Identity", {"x"}, {"s"})});
  auto g = graph(
      {symbolic("x", {"N", "4"}), value("m", {}, int64)},
      {symbolic("y", {"", ""}), symbolic("z", {"", "", ""})},
      {node("Loop", {"m", "", "x"}, {"y", "z"}, {attribute("body", body)})});
  Imported imported = import(model(g));
  ASSERT_TRUE(imported.status.isOk()) << imported.status.toString();
  ASSERT_EQ(imported.results.size(), 2u);
  EXPECT_NE(imported.results[0].find("tensor<?x4xf32, #tw.dims<[u"),
            std::string::npos);
  EXPECT_NE(imported.results[1].find(", N, 4]>>"), std::string::npos)
      << imported.results[1];
}

TEST(ImportLoop, ScansAlongAnAxis) {
  auto body =
      graph({symbolic("a", {"4"}), symbolic("b", {"4"})},
            {symbolic("c", {"4"}), symbolic("d", {"4"})},
            {node("Add", {"a", "b"}, {"c"}), node("Identity", {"c"}, {"d"})});
  auto g = graph({value("x", {4}), symbolic("t", {"N", "4"})},
                 {symbolic("y", {""}), symbolic("z", {"", ""})},
                 {node("Scan", {"x", "t"}, {"y", "z"},
                       {attribute("body", body),
                        attribute("num_scan_inputs", int64_t{1})})});
  expectTypes(model(g), {"tensor<4xf32>", "tensor<?x4xf32, #tw.dims<[N, 4]>>"});
}

TEST(ImportFunctions, PrefersLocalOnes) {
  auto built = model(
      graph({value("x", {2})}, {value("y", {2})}, {call("f", {"x"}, {"y"})}));
  addFunction(built, "f", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})});
  expectTypes(built, {"tensor<2xf32>"});
}

TEST(ImportFunctions, NamesWhatIsUnknown) {
  auto built = model({call("mystery", {"x"}, {"y"})});
  auto *import = built.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  expectError(built, ErrorCode::UnsupportedOperator, {"mystery", "local", "y"});
}

} // namespace
