//===- ElementValuesTest.cpp ----------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/ElementValues.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tilewright;

static const std::vector<int64_t> one = {1};

static double valueOf(DType dtype, unsigned bits) {
  uint64_t storage = bits;
  return static_cast<double>(elementAt(TensorView(dtype, one, &storage), 0));
}

TEST(ElementValues, DecodesSmallFloats) {
  EXPECT_EQ(valueOf(DType::F8E4M3FN, 0x38), 1.0);
  EXPECT_EQ(valueOf(DType::F8E4M3FN, 0x7e), 448.0);
  EXPECT_TRUE(std::isnan(valueOf(DType::F8E4M3FN, 0xff)));
  EXPECT_EQ(valueOf(DType::F8E4M3FNUZ, 0x7f), 240.0);
  EXPECT_TRUE(std::isnan(valueOf(DType::F8E4M3FNUZ, 0x80)));
  EXPECT_EQ(valueOf(DType::F8E5M2, 0x7b), 57344.0);
  EXPECT_EQ(valueOf(DType::F8E5M2, 0xfc), -HUGE_VAL);
  EXPECT_EQ(valueOf(DType::F8E5M2FNUZ, 0x7f), 57344.0);
  EXPECT_EQ(valueOf(DType::F8E8M0, 127), 1.0);
  EXPECT_EQ(valueOf(DType::F4E2M1, 0x0f), -6.0);
  EXPECT_EQ(valueOf(DType::F4E2M1, 0x01), 0.5);
  EXPECT_EQ(valueOf(DType::F16, 0x3c01), 1.0009765625);
  EXPECT_EQ(valueOf(DType::BF16, 0xc040), -3.0);
}

TEST(ElementValues, DecodesSmallIntegers) {
  EXPECT_EQ(valueOf(DType::I4, 0x0f), -1);
  EXPECT_EQ(valueOf(DType::U4, 0x0f), 15);
  EXPECT_EQ(valueOf(DType::I2, 0x02), -2);
  EXPECT_EQ(valueOf(DType::U2, 0x03), 3);
}

TEST(ElementValues, HoldsWideIntegersExactly) {
  int64_t least = INT64_MIN;
  uint64_t most = UINT64_MAX;
  EXPECT_EQ(formatElement(TensorView(DType::I64, one, &least), 0),
            "-9223372036854775808");
  EXPECT_EQ(formatElement(TensorView(DType::U64, one, &most), 0),
            "18446744073709551615");
}

TEST(ElementValues, WritesWhatItReads) {
  for (unsigned type = 0; type < dtypeCount; ++type) {
    DType dtype = static_cast<DType>(type);
    if (!hasElementValues(dtype)) {
      continue;
    }
    uint64_t storage = 0;
    TensorView tensor(dtype, one, &storage);
    setElement(tensor, 0, 1);
    EXPECT_EQ(elementAt(tensor, 0), 1) << nameOf(dtype);
  }
}

TEST(ElementValues, RoundsToTheNearest) {
  uint64_t storage = 0;
  TensorView tensor(DType::BF16, one, &storage);
  setElement(tensor, 0, 1.005);
  EXPECT_EQ(elementAt(tensor, 0), 1.0078125);
}

TEST(ElementValues, FormatsTheFirstElements) {
  float values[] = {0.25F, -3, NAN};
  std::vector<int64_t> shape = {3};
  TensorView tensor(DType::F32, shape, values);
  EXPECT_EQ(formatElements(tensor, 2), "0.25 -3 …");
  EXPECT_EQ(formatElements(tensor, 3), "0.25 -3 nan");
}
