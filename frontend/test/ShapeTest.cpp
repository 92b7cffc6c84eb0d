//===- ShapeTest.cpp - operators that read sizes and change shapes --------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/test/ImportHelpers.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

onnx::ValueInfoProto anyShape(int rank, int type = onnx::TensorProto::FLOAT) {
  return symbolic("y", Strings(rank, ""), type);
}

TEST(ImportShape, ReshapesByComputedSizes) {
  // [N, 6, H] → Concat(Shape(x)[0], 2, -1).
  auto g =
      graph({symbolic("x", {"N", "6", "H"})}, {anyShape(3)},
            {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"n"}),
             node("Concat", {"n", "two", "rest"}, {"t"},
                  {attribute("axis", int64_t{0})}),
             node("Reshape", {"x", "t"}, {"y"})});
  expectTypes(modelWith(g, {integers("zero", {0}), integers("two", {2}),
                            integers("rest", {-1})}),
              {"tensor<?x2x?xf32, #tw.dims<[N, 2, 3 * H]>>"});
}

TEST(ImportShape, KeepsAndInfersSizes) {
  auto g = graph({symbolic("x", {"N", "6", "4"})}, {anyShape(3)},
                 {node("Reshape", {"x", "t"}, {"y"})});
  expectTypes(modelWith(g, {integers("t", {0, -1, 3})}),
              {"tensor<?x8x3xf32, #tw.dims<[N, 8, 3]>>"});
}

TEST(ImportShape, ReadsUnknownTargets) {
  auto g = graph(
      {symbolic("x", {"N", "6"}), value("t", {3}, onnx::TensorProto::INT64)},
      {anyShape(3)}, {node("Reshape", {"x", "t"}, {"y"})});
  Imported imported =
      expectTypes(model(g), {"tensor<?x?x?xf32, #tw.dims<[u0, u1, u2]>>"});
  EXPECT_TRUE(imported.has("tw.read_sizes")) << imported.text;
}

TEST(ImportShape, RefusesWhatDoesNotFit) {
  auto g = graph({value("x", {2, 3})}, {anyShape(2)},
                 {node("Reshape", {"x", "t"}, {"y"})});
  expectError(modelWith(g, {integers("t", {4, -1})}), ErrorCode::ShapeMismatch,
              {"Reshape"});
  expectError(modelWith(g, {integers("t", {-1, -1})}), ErrorCode::ShapeMismatch,
              {"-1"});
}

TEST(ImportShape, FixesShapes) {
  auto g = graph({symbolic("x", {"N", "6"}), symbolic("z", {"N", "?"})},
                 {anyShape(2)}, {node("Identity", {"z"}, {"y"})});
  frontend::ImportOptions options;
  options.shapes["x"] = {4, -1};
  Imported imported = import(model(g), options);
  EXPECT_EQ(imported.results, Strings{"tensor<4x?xf32, #tw.dims<[4, z_1]>>"});
  options.shapes["x"] = {4, 7};
  EXPECT_EQ(import(model(g), options).status.code(), ErrorCode::InputShape);
  options.shapes = {{"w", {1}}};
  EXPECT_EQ(import(model(g), options).status.code(), ErrorCode::InputName);
}

} // namespace
