//===- CApiTest.cpp ---------------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/CApi.h"

#include "runtime/test/TestModule.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

TEST(CApi, OpensRunsAndFails) {
  TestModule b;
  uint32_t two = b.size(2);
  uint32_t x = b.parameter(0, "x", DType_F32, {two});
  uint32_t y = b.owned("y", DType_F32, {two});
  b.copy(0, x, y);
  b.result(0, y);
  std::vector<std::byte> bytes = b.bytes();

  tw_module *module = nullptr;
  ASSERT_EQ(tw_module_from_bytes(bytes.data(), bytes.size(), &module), 0);
  EXPECT_EQ(tw_module_inputs(module), 1u);
  EXPECT_STREQ(tw_module_input_name(module, 0), "x");
  EXPECT_STREQ(tw_module_output_name(module, 0), "y");
  EXPECT_EQ(tw_module_output_name(module, 1), nullptr);
  tw_context *context = nullptr;
  ASSERT_EQ(tw_context_create(module, 1, &context), 0);
  tw_module_close(module);

  float data[] = {1, 2};
  int64_t dims[] = {2};
  tw_tensor input = {TW_F32, 1, dims, data};
  tw_result *result = nullptr;
  ASSERT_EQ(tw_context_run(context, &input, 1, &result), 0);
  ASSERT_EQ(tw_result_count(result), 1u);
  tw_tensor output = tw_result_tensor(result, 0);
  EXPECT_EQ(output.rank, 1u);
  EXPECT_EQ(output.dims[0], 2);
  EXPECT_EQ(static_cast<float *>(output.data)[1], 2);
  tw_result_free(result);

  input.dtype = TW_I32;
  EXPECT_EQ(tw_context_run(context, &input, 1, &result), 1102);
  EXPECT_EQ(std::string(tw_last_error()).substr(0, 13), "error TW1102:");
  tw_context_free(context);
  EXPECT_EQ(tw_module_open("/no/such/file", &module), 1201);
}

TEST(CApi, ChoosesTheDevice) {
  TestModule b;
  uint32_t two = b.size(2);
  uint32_t x = b.parameter(0, "x", DType_F32, {two});
  uint32_t y = b.owned("y", DType_F32, {two});
  b.copy(0, x, y);
  b.result(0, y);
  std::vector<std::byte> bytes = b.bytes();
  tw_module *module = nullptr;
  auto open = [&](int device, const char *code) {
    return tw_module_from_bytes_for(bytes.data(), bytes.size(), device, code,
                                    &module);
  };
  ASSERT_EQ(open(TW_DEVICE_CPU, "x86-64-v2"), 0) << tw_last_error();
  EXPECT_EQ(tw_module_device(module), TW_DEVICE_CPU);
  tw_context *context = nullptr;
  ASSERT_EQ(tw_context_create_on(module, 1, 0, &context), 0);
  EXPECT_STREQ(tw_context_device(context), "cpu:x86-64-v2");
  tw_context_free(context);
  tw_module_close(module);
  ASSERT_EQ(open(TW_DEVICE_ANY, nullptr), 0);
  tw_module_close(module);

  EXPECT_EQ(open(TW_DEVICE_CPU, "sm_80"), 1107);
  EXPECT_EQ(open(TW_DEVICE_ANY, "sm_80"), 1107);
  EXPECT_EQ(open(TW_DEVICE_CUDA, "large"), 1107);
  EXPECT_EQ(open(9, nullptr), 1107);
  EXPECT_EQ(open(TW_DEVICE_CUDA, nullptr), 1204);
  EXPECT_EQ(
      tw_module_from_bytes_for(nullptr, 0, TW_DEVICE_CPU, nullptr, &module),
      1107);
}
