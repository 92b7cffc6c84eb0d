//===- CApiTest.cpp - the simulator through the C API ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/CApi.h"
#include "runtime/devices/cuda/test/GpuModule.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
class GpuCApi : public GpuTest {};
} // namespace

TEST_F(GpuCApi, RunsOnTheGpuThatTheSimulatorPlays) {
  OneInput t;
  uint32_t y = t.owned("y");
  t.scale(t.x, y, 2);
  t.b.result(0, y);
  std::vector<std::byte> bytes = t.b.bytes();
  tw_module *module = nullptr;
  auto open = [&](const char *architecture) {
    return tw_module_from_bytes_for(bytes.data(), bytes.size(),
                                    TW_DEVICE_SIMULATOR, architecture, &module);
  };
  EXPECT_EQ(open("sm_75"), 1204) << "no code for a GPU that is older";
  ASSERT_EQ(open("sm_86"), 0) << tw_last_error();
  EXPECT_EQ(tw_module_device(module), TW_DEVICE_SIMULATOR);
  tw_context *context = nullptr;
  ASSERT_EQ(tw_context_create_on(module, 1, 0, &context), 0);
  EXPECT_NE(std::string(tw_context_device(context)).find("(sm_86)"),
            std::string::npos);
  tw_module_close(module);

  float data[] = {1, 2};
  int64_t dims[] = {2};
  tw_tensor input = {TW_F32, 1, dims, data};
  tw_result *result = nullptr;
  ASSERT_EQ(tw_context_run(context, &input, 1, &result), 0);
  EXPECT_EQ(static_cast<float *>(tw_result_tensor(result, 0).data)[1], 5);
  tw_result_free(result);
  tw_context_free(context);
}
