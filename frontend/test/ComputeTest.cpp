//===- ComputeTest.cpp - sizes and errors of computing operators ----------===//
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

onnx::AttributeProto equation(const std::string &text) {
  onnx::AttributeProto result;
  result.set_name("equation");
  result.set_type(onnx::AttributeProto::STRING);
  result.set_s(text);
  return result;
}

/// A model of one node with inputs x and w and the result y.
onnx::ModelProto
binary(const std::string &op, const Strings &x, const Strings &w, int rank,
       const std::vector<onnx::AttributeProto> &attributes = {},
       int64_t opset = 18) {
  auto g = graph({symbolic("x", x), symbolic("w", w)}, {anyShape(rank)},
                 {node(op, {"x", "w"}, {"y"}, attributes)});
  return modelWith(g, {}, opset);
}

onnx::ModelProto unary(const std::string &op, const Strings &x, int rank,
                       const std::vector<onnx::AttributeProto> &attributes = {},
                       int64_t opset = 18) {
  auto g = graph({symbolic("x", x)}, {anyShape(rank)},
                 {node(op, {"x"}, {"y"}, attributes)});
  return modelWith(g, {}, opset);
}

TEST(ImportCompute, BroadcastsSymbols) {
  expectTypes(binary("Add", {"N", "1", "4"}, {"T", "4"}, 3),
              {"tensor<?x?x4xf32, #tw.dims<[N, T, 4]>>"});
  expectError(binary("Mul", {"3"}, {"4"}, 1), ErrorCode::ShapeMismatch,
              {"Mul"});
}

TEST(ImportCompute, ReadsAxisOfOpsetSix) {
  auto attributes = {attribute("broadcast", int64_t{1}),
                     attribute("axis", int64_t{1})};
  Imported imported =
      import(binary("Add", {"2", "3", "4"}, {"3"}, 3, attributes, 6));
  ASSERT_TRUE(imported.status.isOk()) << imported.status.toString();
  EXPECT_TRUE(imported.has("tw.reshape")) << imported.text;
}

TEST(ImportCompute, SizesConvolutions) {
  auto strided = {attribute("strides", Sizes{2, 2}),
                  attribute("pads", Sizes{1, 1, 1, 1})};
  expectTypes(
      binary("Conv", {"N", "3", "H", "W"}, {"8", "3", "3", "3"}, 4, strided),
      {"tensor<?x8x?x?xf32, #tw.dims<[N, 8, (H + 1) floordiv 2, "
       "(W + 1) floordiv 2]>>"});
  expectError(binary("Conv", {"N", "4", "8", "8"}, {"8", "3", "3", "3"}, 4),
              ErrorCode::ShapeMismatch, {"Conv"});
  expectTypes(binary("ConvTranspose", {"N", "3", "H", "4"},
                     {"3", "8", "2", "2"}, 4,
                     {attribute("strides", Sizes{2, 2})}),
              {"tensor<?x8x?x8xf32, #tw.dims<[N, 8, 2 * H, 8]>>"});
}

TEST(ImportCompute, SizesPools) {
  auto attributes = {attribute("kernel_shape", Sizes{3}),
                     attribute("strides", Sizes{2}),
                     attribute("ceil_mode", int64_t{1})};
  // The third window would begin behind the last element.
  expectTypes(unary("MaxPool", {"1", "2", "4"}, 3, attributes),
              {"tensor<1x2x2xf32>"});
  expectError(unary("MaxPool", {"1", "2", "2"}, 3,
                    {attribute("kernel_shape", Sizes{3})}),
              ErrorCode::ShapeMismatch, {"MaxPool"});
}

TEST(ImportCompute, MultipliesMatrices) {
  expectTypes(binary("MatMul", {"B", "1", "M", "8"}, {"5", "8", "6"}, 4),
              {"tensor<?x5x?x6xf32, #tw.dims<[B, 5, M, 6]>>"});
  expectError(binary("MatMul", {"2", "3"}, {"4", "5"}, 2),
              ErrorCode::ShapeMismatch, {"MatMul"});
}

TEST(ImportCompute, ParsesEquations) {
  expectTypes(binary("Einsum", {"B", "4", "H", "8"}, {"B", "T", "H", "8"}, 4,
                     {equation("bqhd,bkhd->bhqk")}),
              {"tensor<?x?x4x?xf32, #tw.dims<[B, H, 4, T]>>"});
  expectError(
      binary("Einsum", {"2", "3"}, {"4", "5"}, 2, {equation("ij,jk->ik")}),
      ErrorCode::ShapeMismatch, {"Einsum", "'j'"});
}

TEST(ImportCompute, ReducesAxes) {
  auto g = graph({symbolic("x", {"N", "3", "4"})}, {anyShape(2)},
                 {node("ReduceSum", {"x", "axes"}, {"y"},
                       {attribute("keepdims", int64_t{0})})});
  expectTypes(modelWith(g, {integers("axes", {-2})}),
              {"tensor<?x4xf32, #tw.dims<[N, 4]>>"});
  expectError(modelWith(g, {integers("axes", {3})}), ErrorCode::ShapeMismatch,
              {"ReduceSum"});
}

TEST(ImportCompute, ReducesAxesThatAreData) {
  auto g = graph(
      {symbolic("x", {"N", "3"}), value("axes", {1}, onnx::TensorProto::INT64)},
      {anyShape(2)}, {node("ReduceSum", {"x", "axes"}, {"y"})});
  Imported imported = import(modelWith(g, {}));
  ASSERT_TRUE(imported.status.isOk()) << imported.status.toString();
  EXPECT_TRUE(imported.has("tw.read_sizes")) << imported.text;
}

TEST(ImportCompute, FlattensOldSoftmax) {
  Imported imported = import(unary("Softmax", {"2", "3", "4"}, 3, {}, 11));
  ASSERT_TRUE(imported.status.isOk()) << imported.status.toString();
  EXPECT_TRUE(imported.has("tensor<2x12xf32>")) << imported.text;
}

TEST(ImportCompute, LoopsOverTimeOnlyWhereThereIsMore) {
  auto lstm = [](const std::string &steps) {
    auto g = graph({symbolic("x", {steps, "N", "5"})}, {anyShape(4)},
                   {node("LSTM", {"x", "w", "r"}, {"y"},
                         {attribute("hidden_size", int64_t{2})})});
    std::string zeros(8 * 7 * 2 * sizeof(float), '\0');
    return modelWith(g, {tensor("w", {1, 8, 5}, onnx::TensorProto::FLOAT,
                                zeros.substr(0, 40 * sizeof(float))),
                         tensor("r", {1, 8, 2}, onnx::TensorProto::FLOAT,
                                zeros.substr(0, 16 * sizeof(float)))});
  };
  Imported one =
      expectTypes(lstm("1"), {"tensor<1x1x?x2xf32, #tw.dims<[1, 1, N, 2]>>"});
  EXPECT_FALSE(one.has("tw.loop"));
  Imported many =
      expectTypes(lstm("T"), {"tensor<?x1x?x2xf32, #tw.dims<[T, 1, N, 2]>>"});
  EXPECT_TRUE(many.has("tw.loop"));
}

TEST(ImportCompute, SizesResizes) {
  auto g = graph({symbolic("x", {"1", "3", "H", "7"})}, {anyShape(4)},
                 {node("Resize", {"x", "", "scales"}, {"y"})});
  const float factors[] = {1, 1, 2, 1.5};
  std::string raw(reinterpret_cast<const char *>(factors), sizeof factors);
  Imported imported = import(
      modelWith(g, {tensor("scales", {4}, onnx::TensorProto::FLOAT, raw)}));
  ASSERT_TRUE(imported.status.isOk()) << imported.status.toString();
  EXPECT_EQ(imported.results,
            Strings{"tensor<1x3x?x10xf32, #tw.dims<[1, 3, 2 * H, 10]>>"});
}

} // namespace
