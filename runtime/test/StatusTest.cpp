//===- StatusTest.cpp -------------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/Tilewright.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(Status, KindsAndTitles) {
  EXPECT_EQ(kindOf(ErrorCode::InputName), ErrorKind::User);
  EXPECT_EQ(kindOf(ErrorCode::UnsupportedType), ErrorKind::Unsupported);
  EXPECT_EQ(kindOf(ErrorCode::Internal), ErrorKind::Internal);
  EXPECT_STREQ(titleOf(ErrorCode::InputName), "there is no input of that name");
  EXPECT_EQ(Status(ErrorCode::InputName, "no 'y'").toString(),
            "error TW1101: no 'y'");
}

TEST(DType, NamesAndSizes) {
  for (unsigned i = 0; i < dtypeCount; ++i) {
    DType type = static_cast<DType>(i);
    EXPECT_EQ(dtypeFromName(nameOf(type)), type);
  }
  EXPECT_EQ(dtypeFromName("float32"), DType::F32);
  EXPECT_FALSE(dtypeFromName("float31"));
  EXPECT_EQ(sizeOf(DType::I4), 1u);
  EXPECT_EQ(sizeOf(DType::C128), 16u);
}

TEST(CpuLevel, Names) {
  for (CpuLevel level : {CpuLevel::V2, CpuLevel::Avx2, CpuLevel::Avx512}) {
    EXPECT_EQ(cpuLevelFromName(nameOf(level)), level);
  }
  EXPECT_FALSE(cpuLevelFromName("avx3"));
  ASSERT_TRUE(hostCpuLevel());
}

TEST(Tensor, Shapes) {
  Result<Tensor> tensor = Tensor::create(DType::F32, {2, 3});
  ASSERT_TRUE(tensor);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data()) % 64, 0u);
  EXPECT_EQ(tensor->bytes(), 24);
  EXPECT_EQ(Tensor::create(DType::F32, {0, 3})->elements(), 0);
  EXPECT_EQ(Tensor::create(DType::F32, {-1}).status().code(),
            ErrorCode::OptionInvalid);
  EXPECT_EQ(Tensor::create(DType::String, {1}).status().code(),
            ErrorCode::OptionInvalid);
  EXPECT_EQ(Tensor::create(DType::F32, {int64_t(1) << 40, int64_t(1) << 40})
                .status()
                .code(),
            ErrorCode::OutOfMemory);
  EXPECT_EQ(Tensor::create(DType::F32, {int64_t(1) << 45}).status().code(),
            ErrorCode::OutOfMemory);
}
