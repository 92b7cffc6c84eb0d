//===- FuzzTest.cpp - damaged models ----------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A damaged model may load or be refused, but nothing else. The damage is the
// same in every run.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/test/ModelBuilder.h"

#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// A model with something of everything: convolution, branches, a function,
/// raw and typed constants.
std::string everything() {
  auto thenGraph =
      graph({}, {value("t", {1, 2, 3, 3})}, {node("Relu", {"c"}, {"t"})});
  auto elseGraph =
      graph({}, {value("e", {1, 2, 3, 3})}, {node("Neg", {"c"}, {"e"})});
  auto built = model(graph(
      {value("x", {1, 1, 4, 4}), value("cond", {}, onnx::TensorProto::BOOL)},
      {value("y", {2, 9})},
      {node("Conv", {"x", "w"}, {"c"},
            {attribute("strides", Sizes{1, 1}), attribute("group", int64_t{1}),
             attribute("pads", Sizes{0, 0, 0, 0})}),
       node("If", {"cond"}, {"i"},
            {attribute("then_branch", thenGraph),
             attribute("else_branch", elseGraph)}),
       call("f", {"i"}, {"g"}, {attribute("axis", int64_t{1})}),
       node("Split", {"g"}, {"s0", "s1"},
            {attribute("axis", int64_t{1}),
             attribute("num_outputs", int64_t{2})}),
       node("Concat", {"s0", "s1"}, {"k"}, {attribute("axis", int64_t{1})}),
       node("Reshape", {"k", "shape"}, {"y"})}));
  built.mutable_graph()->mutable_node(0)->set_name("conv");
  auto *function =
      addFunction(built, "f", {"a"}, {"b"},
                  {node("Softmax", {"a"}, {"m"},
                        {reference("axis", onnx::AttributeProto::INT, "axis")}),
                   node("Softplus", {"m"}, {"b"})});
  function->add_attribute("axis");
  *built.mutable_graph()->add_initializer() =
      tensor("w", {2, 1, 2, 2}, onnx::TensorProto::FLOAT, std::string(32, '?'));
  auto shape = tensor("shape", {2}, onnx::TensorProto::INT64, "");
  shape.clear_raw_data();
  shape.add_int64_data(2);
  shape.add_int64_data(-1);
  *built.mutable_graph()->add_initializer() = shape;
  return built.SerializeAsString();
}

/// Loads `bytes` and, when they load, uses what there is to use.
bool exercise(const std::string &bytes) {
  onnx::ModelProto proto;
  if (!proto.ParseFromString(bytes)) {
    return false;
  }
  Result<LoadedModel> loaded = loadModel(std::move(proto));
  if (!loaded) {
    EXPECT_FALSE(loaded.status().message().empty());
    EXPECT_NE(loaded.status().kind(), ErrorKind::Internal);
    return false;
  }
  for (const onnx::TensorProto &tensor : loaded->graph().initializer()) {
    (void)loaded->data(tensor);
  }
  for (const onnx::NodeProto &each : loaded->graph().node()) {
    if (loaded->hasFunction(each, loaded->opsets())) {
      (void)loaded->expandFunction(each, loaded->opsets(), {});
    }
  }
  return true;
}

TEST(Fuzz, TheModelItselfLoads) { EXPECT_TRUE(exercise(everything())); }

TEST(Fuzz, Truncations) {
  std::string bytes = everything();
  for (int place = 0; place < 200; ++place) {
    exercise(bytes.substr(0, bytes.size() * place / 200));
  }
}

TEST(Fuzz, ChangedBytes) {
  std::string bytes = everything();
  std::mt19937 random(7);
  int loads = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = bytes;
    for (int change = 1 + int(random() % 3); change > 0; --change) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    loads += exercise(damaged) ? 1 : 0;
  }
  // Damage that nothing notices (in a weight, in a name) must stay possible:
  // else the test would test the parser alone.
  EXPECT_GT(loads, 100);
}

TEST(Fuzz, ChangedNumbers) {
  // Sizes, counts and axes of all values, at the places where a small number
  // stands.
  std::string bytes = everything();
  for (size_t place = 0; place < bytes.size(); ++place) {
    if (static_cast<unsigned char>(bytes[place]) > 16) {
      continue;
    }
    for (int number : {0, 1, 2, 3, 5, 7, 9, 11, 16, 22, 28, 77, 127}) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(number);
      exercise(damaged);
    }
  }
}

} // namespace
