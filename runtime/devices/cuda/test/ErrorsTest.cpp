//===- ErrorsTest.cpp - what users of a GPU can get wrong -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/GpuModule.h"

#include <dlfcn.h>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::format;

namespace {
class GpuErrors : public GpuTest {};

/// One launch.
struct Simple : OneInput {
  explicit Simple(const std::string &architecture = "sm_80") {
    b.module.variants[0]->level = architecture;
    uint32_t y = owned("y");
    scale(x, y, 2);
    b.result(0, y);
  }
};

void expectError(const Status &status, ErrorCode code,
                 const std::string &text) {
  EXPECT_EQ(status.code(), code) << status.toString();
  EXPECT_NE(status.message().find(text), std::string::npos)
      << status.toString();
}

Status contextStatus(Result<std::shared_ptr<const tilewright::Module>> module,
                     const ContextOptions &options = {}) {
  return module ? Context::create(*module, options).status() : module.status();
}
} // namespace

TEST_F(GpuErrors, MemoryOfTheGpuIsExhausted) {
  Environment environment("TILEWRIGHT_SIM_MEMORY", "1M");
  Simple t;
  auto context = t.b.context();
  ASSERT_TRUE(context);
  Tensor large = std::move(*Tensor::create(tilewright::DType::F32, {1 << 20}));
  std::fill_n(large.as<float>(), 1 << 20, 1.0f);
  expectError(context->run({large.view()}).status(), ErrorCode::DeviceMemory,
              "not enough memory on the GPU");
  EXPECT_EQ(OneInput::run(*context, {1, 2}), (std::vector<float>{3, 5}));
}

TEST_F(GpuErrors, ConstantsDoNotFit) {
  Environment environment("TILEWRIGHT_SIM_MEMORY", "1M");
  Simple t;
  uint32_t constant = t.b.constant("large", DType_U8, {t.b.size(2 << 20)},
                                   std::string(2 << 20, 'c'));
  uint32_t y = t.b.owned("copy", DType_U8, {t.b.size(2 << 20)});
  t.b.copy(0, constant, y);
  t.b.result(0, y);
  expectError(contextStatus(t.b.open()), ErrorCode::DeviceMemory, "constants");
}

TEST_F(GpuErrors, NoCodeForTheArchitecture) {
  expectError(Simple("sm_90a").b.open(DeviceKind::Simulator, "sm_80").status(),
              ErrorCode::ModuleTarget, "it has cuda:sm_90a");
  // Machine code alone, which the simulator does not take.
  Simple t;
  t.b.kernels[0] = {"\x7f"
                    "ELF machine code",
                    ""};
  expectError(contextStatus(t.b.open()), ErrorCode::DeviceArchitecture,
              "does not take the machine code of kernel 'scale'");
  // No code at all.
  t.b.kernels[0] = {"", ""};
  expectError(contextStatus(t.b.open()), ErrorCode::DeviceArchitecture,
              "neither machine code for it nor PTX");
}

TEST_F(GpuErrors, MachineCodeFallsBackToPtx) {
  Simple t;
  t.b.kernels[0].cubin = "\x7f"
                         "ELF machine code";
  auto context = t.b.context();
  ASSERT_TRUE(context);
  EXPECT_EQ(context->statistics().compiledKernels, 1u);
  EXPECT_EQ(OneInput::run(*context, {1, 2}), (std::vector<float>{3, 5}));
}

TEST_F(GpuErrors, NewerDevicesCompilePtx) {
  Simple t;
  for (const char *architecture : {"sm_86", "sm_89", "sm_90", "sm_120"}) {
    auto module = t.b.open(DeviceKind::Simulator, architecture);
    ASSERT_TRUE(module) << module.status().toString();
    auto context = Context::create(*module);
    ASSERT_TRUE(context) << context.status().toString();
    EXPECT_NE((*context)->deviceName().find(architecture), std::string::npos);
    EXPECT_EQ(OneInput::run(**context, {1}), std::vector<float>{3});
  }
}

TEST_F(GpuErrors, ADeviceThatTheSimulatorDoesNotPlay) {
  expectError(contextStatus(Simple().b.open(DeviceKind::Simulator, "sm_87")),
              ErrorCode::DeviceMissing, "it plays sm_80, sm_86");
}

TEST_F(GpuErrors, DamagedKernels) {
  Simple t;
  std::string good = t.b.kernels[0].ptx;
  t.b.kernels[0].ptx = "this is no PTX";
  expectError(contextStatus(t.b.open()), ErrorCode::ModuleDamaged,
              "the PTX of kernel 'scale' was refused");
  t.b.kernels[0].ptx = good;
  t.b.plan().kernels[0] = "other";
  expectError(contextStatus(t.b.open()), ErrorCode::ModuleDamaged,
              "lacks the kernel 'other'");
}

TEST_F(GpuErrors, TooMuchSharedMemory) {
  Simple t;
  t.b.function(0).commands[0]->body.AsLaunch()->shared = 200 * 1024;
  expectError(contextStatus(t.b.open()), ErrorCode::DeviceFault,
              "204800 bytes of shared memory");
}

TEST_F(GpuErrors, TheLibraryOfTheSimulator) {
  Simple t;
  ContextOptions options;
  options.simulatorLibrary = "/no/such/library.so";
  expectError(contextStatus(t.b.open(), options), ErrorCode::SimulatorMissing,
              "/no/such/library.so");
  options.simulatorLibrary = "libm.so.6";
  expectError(contextStatus(t.b.open(), options), ErrorCode::SimulatorMissing,
              "is not the simulator");
}

TEST_F(GpuErrors, SettingsThatMakeNoSense) {
  Environment environment("TILEWRIGHT_SIM_MEMORY", "lots");
  expectError(contextStatus(Simple().b.open()), ErrorCode::DeviceFault,
              "TILEWRIGHT_SIM_MEMORY='lots'");
}

TEST_F(GpuErrors, NoDriver) {
  if (void *driver = dlopen("libcuda.so.1", RTLD_NOW)) {
    dlclose(driver);
    GTEST_SKIP() << "this machine has a CUDA driver";
  }
  expectError(contextStatus(Simple().b.open(DeviceKind::Cuda)),
              ErrorCode::DeviceDriver, "this machine has no CUDA driver");
}
