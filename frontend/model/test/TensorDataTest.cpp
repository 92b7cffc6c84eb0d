//===- TensorDataTest.cpp - the elements of constants -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/test/ModelBuilder.h"

#include <cstring>

using namespace tilewright;
using namespace tilewright::test;
using onnx::TensorProto;

namespace {

onnx::ModelProto modelWith(const TensorProto &weight) {
  auto built = model({node("Relu", {"x"}, {"y"})});
  *built.mutable_graph()->add_initializer() = weight;
  return built;
}

/// Loads a model with `weight` in it, and reads its elements.
template <typename Element>
std::vector<Element> elements(const TensorProto &weight) {
  auto loaded = loadModel(modelWith(weight));
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
  if (!loaded) {
    return {};
  }
  auto bytes = loaded->data(loaded->graph().initializer(0));
  EXPECT_TRUE(bytes.isOk()) << bytes.status().message();
  if (!bytes) {
    return {};
  }
  std::vector<Element> result(bytes->size / sizeof(Element));
  if (!result.empty()) {
    std::memcpy(result.data(), bytes->data, bytes->size);
  }
  return result;
}

TEST(TensorData, ComesRaw) {
  EXPECT_EQ(elements<uint16_t>(tensor("w", {2}, TensorProto::FLOAT16,
                                      std::string("\x01\x02\x03\x04"))),
            (std::vector<uint16_t>{0x0201, 0x0403}));
}

TEST(TensorData, ComesInTypedFields) {
  TensorProto weight = tensor("w", {2}, TensorProto::FLOAT, "");
  weight.clear_raw_data();
  weight.add_float_data(1.5f);
  weight.add_float_data(-2.0f);
  EXPECT_EQ(elements<float>(weight), (std::vector<float>{1.5f, -2.0f}));

  weight = tensor("w", {2}, TensorProto::INT8, "");
  weight.clear_raw_data();
  weight.add_int32_data(-1);
  weight.add_int32_data(7);
  EXPECT_EQ(elements<int8_t>(weight), (std::vector<int8_t>{-1, 7}));

  weight = tensor("w", {1}, TensorProto::UINT32, "");
  weight.add_uint64_data(0xfffffffful);
  EXPECT_EQ(elements<uint32_t>(weight), (std::vector<uint32_t>{0xffffffffu}));
}

TEST(TensorData, UnpacksSmallElements) {
  // 1, -1, 7 in two bytes, the first element in the low bits.
  EXPECT_EQ(elements<uint8_t>(
                tensor("w", {3}, TensorProto::INT4, std::string("\xf1\x07"))),
            (std::vector<uint8_t>{1, 15, 7}));
  EXPECT_EQ(elements<uint8_t>(
                tensor("w", {5}, TensorProto::UINT2, std::string("\xe4\x02"))),
            (std::vector<uint8_t>{0, 1, 2, 3, 2}));
  TensorProto weight = tensor("w", {3}, TensorProto::UINT4, "");
  weight.add_int32_data(0xf1);
  weight.add_int32_data(0x07);
  EXPECT_EQ(elements<uint8_t>(weight), (std::vector<uint8_t>{1, 15, 7}));
}

TEST(TensorData, MakesTrueOne) {
  EXPECT_EQ(elements<uint8_t>(tensor("w", {3}, TensorProto::BOOL,
                                     std::string("\x00\x02\x01", 3))),
            (std::vector<uint8_t>{0, 1, 1}));
}

TEST(TensorData, MayBeEmpty) {
  EXPECT_TRUE(
      elements<float>(tensor("w", {0, 5}, TensorProto::FLOAT, "")).empty());
}

TEST(TensorData, MustHaveItsSize) {
  expectRefused(modelWith(tensor("w", {128}, TensorProto::FLOAT, "abcd")),
                ErrorCode::ConstantInvalid,
                {"'w'", "4 bytes", "512 bytes", "size"});
  expectRefused(modelWith(tensor("w", {1}, TensorProto::FLOAT, "abcdefgh")),
                ErrorCode::ConstantInvalid, {"'w'", "8 bytes"});
  expectRefused(modelWith(tensor("w", {2}, TensorProto::FLOAT, "")),
                ErrorCode::ConstantInvalid, {"'w'", "0 bytes"});
  expectRefused(modelWith(tensor("w", {2}, TensorProto::STRING, "")),
                ErrorCode::ConstantInvalid, {"'w'", "string_data"});
}

TEST(TensorData, MustHaveSaneDims) {
  int64_t huge = int64_t{1} << 33;
  expectRefused(modelWith(tensor("w", {huge, huge, 4}, TensorProto::FLOAT, "")),
                ErrorCode::ConstantInvalid, {"'w'", "dims", "large"});
  expectRefused(modelWith(tensor("w", {huge, huge}, TensorProto::INT4, "")),
                ErrorCode::ConstantInvalid, {"'w'", "dims", "large"});
  expectRefused(modelWith(tensor("w", {-3}, TensorProto::FLOAT, "")),
                ErrorCode::ConstantInvalid, {"'w'", "negative"});
}

TEST(TensorData, MustHaveAKnownType) {
  expectRefused(modelWith(tensor("w", {1}, 77, "abcd")),
                ErrorCode::TypeMismatch, {"'w'", "type 77"});
}

TEST(TensorData, IsCheckedInAttributes) {
  onnx::AttributeProto constant;
  constant.set_name("value");
  constant.set_type(onnx::AttributeProto::TENSOR);
  *constant.mutable_t() = tensor("c", {9}, TensorProto::FLOAT, "abcd");
  expectRefused(model({node("Constant", {}, {"c"}, {constant}),
                       node("Add", {"x", "c"}, {"y"})}),
                ErrorCode::ConstantInvalid, {"Constant:c", "36 bytes"});
}

} // namespace
