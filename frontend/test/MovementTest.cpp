//===- MovementTest.cpp - operators that move elements --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/test/ImportHelpers.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

onnx::ValueInfoProto output(int rank, int type = onnx::TensorProto::FLOAT) {
  return symbolic("y", Strings(rank, ""), type);
}

/// x through one node, whose other inputs are initializers.
onnx::ModelProto
oneNode(const onnx::ValueInfoProto &x, const onnx::NodeProto &node, int rank,
        const std::vector<onnx::TensorProto> &initializers = {}) {
  return modelWith(graph({x}, {output(rank)}, {node}), initializers);
}

onnx::ModelProto slice(const Strings &dims, const Sizes &bounds) {
  return oneNode(symbolic("x", dims),
                 node("Slice", {"x", "b", "e", "a", "s"}, {"y"}), dims.size(),
                 {integers("b", {bounds[0]}), integers("e", {bounds[1]}),
                  integers("a", {bounds[2]}), integers("s", {bounds[3]})});
}

TEST(ImportMovement, Transposes) {
  auto x = symbolic("x", {"N", "3", "W"});
  expectTypes(oneNode(x, node("Transpose", {"x"}, {"y"}), 3),
              {"tensor<?x3x?xf32, #tw.dims<[W, 3, N]>>"});
  expectError(oneNode(x,
                      node("Transpose", {"x"}, {"y"},
                           {attribute("perm", Sizes{0, 0, 1})}),
                      3),
              ErrorCode::TypeMismatch, {"perm"});
}

TEST(ImportMovement, SlicesToSizeExpressions) {
  expectTypes(slice({"N", "8"}, {1, INT64_MAX, 0, 1}),
              {"tensor<?x8xf32, #tw.dims<[max(0, N + -1), 8]>>"});
  expectTypes(slice({"N", "8"}, {-2, INT64_MAX, 0, 1}),
              {"tensor<?x8xf32, #tw.dims<[min(2, N), 8]>>"});
  expectTypes(slice({"N", "8"}, {0, INT64_MAX, 0, 2}),
              {"tensor<?x8xf32, #tw.dims<[(N + 1) floordiv 2, 8]>>"});
  expectTypes(slice({"9"}, {-1, INT64_MIN, 0, -4}), {"tensor<3xf32>"});
  expectTypes(slice({"9"}, {20, 30, 0, 1}), {"tensor<0xf32>"});
}

TEST(ImportMovement, RefusesSlices) {
  expectError(slice({"9"}, {0, 9, 0, 0}), ErrorCode::ShapeMismatch, {"step"});
  expectError(slice({"9"}, {0, 9, 3, 1}), ErrorCode::ShapeMismatch,
              {"axis", "3"});
}

TEST(ImportMovement, SlicesAtRunTime) {
  auto bound = [](const char *name) {
    return value(name, {1}, onnx::TensorProto::INT64);
  };
  auto g =
      graph({symbolic("x", {"N", "8"}), bound("b"), bound("e"), bound("a")},
            {output(2)}, {node("Slice", {"x", "b", "e", "a"}, {"y"})});
  expectTypes(model(g), {"tensor<?x?xf32, #tw.dims<[u0, u1]>>"});
}

TEST(ImportMovement, Concatenates) {
  auto g = graph(
      {symbolic("x", {"N", "4"}), symbolic("z", {"M", "?"})}, {output(2)},
      {node("Concat", {"x", "z"}, {"y"}, {attribute("axis", int64_t{-2})})});
  expectTypes(model(g), {"tensor<?x4xf32, #tw.dims<[M + N, 4]>>"});
  g = graph(
      {value("x", {2, 4}), value("z", {2, 5})}, {output(2)},
      {node("Concat", {"x", "z"}, {"y"}, {attribute("axis", int64_t{0})})});
  Imported imported = import(model(g));
  EXPECT_EQ(imported.status.code(), ErrorCode::ShapeMismatch);
}

TEST(ImportMovement, Splits) {
  auto g =
      graph({symbolic("x", {"10", "N"})}, {output(2), symbolic("z", {"", ""})},
            {node("Split", {"x", "s"}, {"y", "z"})});
  expectTypes(modelWith(g, {integers("s", {3, 7})}),
              {"tensor<3x?xf32, #tw.dims<[3, N]>>",
               "tensor<7x?xf32, #tw.dims<[7, N]>>"});
  expectError(modelWith(g, {integers("s", {3, 8})}), ErrorCode::ShapeMismatch,
              {"Split"});
}

TEST(ImportMovement, Pads) {
  auto x = symbolic("x", {"N", "4"});
  expectTypes(oneNode(x, node("Pad", {"x", "p"}, {"y"}), 2,
                      {integers("p", {1, -1, 2, 0})}),
              {"tensor<?x3xf32, #tw.dims<[N + 3, 3]>>"});
  expectError(oneNode(x, node("Pad", {"x", "p"}, {"y"}), 2,
                      {integers("p", {1, -1, 2})}),
              ErrorCode::ShapeMismatch, {"Pad"});
}

TEST(ImportMovement, GathersAndScatters) {
  auto indices = value("i", {5, 2}, onnx::TensorProto::INT64);
  auto g = graph(
      {symbolic("x", {"N", "4"}), indices}, {output(3)},
      {node("Gather", {"x", "i"}, {"y"}, {attribute("axis", int64_t{1})})});
  Imported imported =
      expectTypes(model(g), {"tensor<?x5x2xf32, #tw.dims<[N, 5, 2]>>"});
  EXPECT_TRUE(imported.has("tw.clamp_index"));
  g = graph({symbolic("x", {"N", "4"}), indices, value("u", {5})}, {output(2)},
            {node("ScatterND", {"x", "i", "u"}, {"y"})});
  imported = expectTypes(model(g), {"tensor<?x4xf32, #tw.dims<[N, 4]>>"});
  EXPECT_TRUE(imported.has("tw.scatter"));
}

TEST(ImportMovement, LetsDataDecideSizes) {
  auto g =
      graph({symbolic("x", {"N", "4"})}, {output(2)},
            {node("NonZero", {"x"}, {"i"}), node("Transpose", {"i"}, {"t"}),
             node("Cast", {"t"}, {"y"}, {attribute("to", int64_t{1})})});
  expectTypes(model(g), {"tensor<?x2xf32, #tw.dims<[u0, 2]>>"});
}

} // namespace
