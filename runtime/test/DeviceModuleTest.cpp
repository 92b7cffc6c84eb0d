//===- DeviceModuleTest.cpp - modules with code for GPUs ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/LoadedModule.h"
#include "runtime/test/TestModule.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;

/// A module without code that copies its input, for the targets that follow.
static TestModule copyModule() {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t x = b.parameter(0, "x", format::DType_F32, {dim});
  b.function(0).binds = {format::Bind(x, 0, n)};
  b.function(0).evaluate = {dim};
  uint32_t y = b.owned("y", format::DType_F32, {dim});
  b.copy(0, x, y);
  b.result(0, y);
  return b;
}

/// The same with variants for these architectures, each with one kernel.
static std::vector<std::byte>
deviceModule(const std::vector<std::string> &levels) {
  TestModule b;
  b.module.variants.clear();
  std::vector<std::string> texts;
  texts.reserve(2 * levels.size());
  ModuleContents contents;
  for (const std::string &level : levels) {
    TestModule one = copyModule();
    auto &launch = one.command<format::LaunchT>(0);
    launch.kernel = 0;
    launch.tasks = launch.workspace = one.size(0);
    launch.threads = 32;
    one.plan().kernels = {"k"};
    auto kernel = std::make_unique<format::DeviceKernelT>();
    kernel->registers = 20;
    one.module.variants[0]->device_kernels.push_back(std::move(kernel));
    one.module.variants[0]->target = "cuda";
    one.module.variants[0]->level = level;
    b.module.variants.push_back(std::move(one.module.variants[0]));
    b.module.inputs = std::move(one.module.inputs);
    b.module.outputs = std::move(one.module.outputs);
    DeviceCode code;
    code.cubin = texts.emplace_back("cubin " + level);
    code.ptx = texts.emplace_back("ptx " + level);
    contents.deviceCode.push_back({code});
    contents.code.push_back("");
  }
  contents.module = &b.module;
  return std::move(*moduleToBytes(contents));
}

static OpenOptions on(DeviceKind device, std::string architecture = "") {
  OpenOptions options;
  options.device = device;
  options.architecture = std::move(architecture);
  return options;
}

TEST(DeviceModule, CarriesCodeOfEachArchitecture) {
  std::vector<std::byte> bytes = deviceModule({"sm_80", "sm_90a"});
  auto module = Module::fromBytes(bytes);
  ASSERT_TRUE(module) << module.status().toString();
  EXPECT_EQ((*module)->device(), DeviceKind::Cuda);
  EXPECT_EQ((*module)->targets(), "cuda:sm_90a, cuda:sm_80");
  const LoadedModule &loaded = (*module)->loaded();
  ASSERT_EQ(loaded.variants.size(), 2u);
  EXPECT_EQ(loaded.variants[0].deviceKernels[0].cubin, "cubin sm_90a");
  EXPECT_EQ(loaded.variants[1].deviceKernels[0].ptx, "ptx sm_80");
}

TEST(DeviceModule, TheArchitectureDecides) {
  std::vector<std::byte> bytes = deviceModule({"sm_80", "sm_89", "sm_90a"});
  auto targets = [&](DeviceKind device, const std::string &architecture) {
    auto module = Module::fromBytes(bytes, on(device, architecture));
    return module ? (*module)->targets() : module.status().toString();
  };
  EXPECT_EQ(targets(DeviceKind::Cuda, "sm_80"), "cuda:sm_80");
  // The simulator compiles PTX for older GPUs, but not what is one GPU's own.
  EXPECT_EQ(targets(DeviceKind::Simulator, "sm_86"), "cuda:sm_80");
  EXPECT_EQ(targets(DeviceKind::Simulator, "sm_100"), "cuda:sm_89, cuda:sm_80");
  auto played = Module::fromBytes(bytes, on(DeviceKind::Simulator));
  EXPECT_EQ((*played)->loaded().architecture, "sm_90a");

  auto status = [&](DeviceKind device, const std::string &architecture) {
    return Module::fromBytes(bytes, on(device, architecture)).status();
  };
  EXPECT_EQ(status(DeviceKind::Cuda, "sm_86").code(), ErrorCode::ModuleTarget);
  EXPECT_EQ(status(DeviceKind::Simulator, "sm_75").code(),
            ErrorCode::ModuleTarget);
  EXPECT_EQ(status(DeviceKind::Cuda, "gfx90a").code(),
            ErrorCode::OptionInvalid);
  EXPECT_EQ(status(DeviceKind::Cpu, "").code(), ErrorCode::ModuleTarget);
}

TEST(DeviceModule, TheProcessorComesFirst) {
  auto module = Module::fromBytes(copyModule().bytes());
  EXPECT_EQ((*module)->device(), DeviceKind::Cpu);
  EXPECT_EQ((*module)->targets(), "cpu:x86-64-v2");
  EXPECT_EQ(Module::fromBytes(copyModule().bytes(), on(DeviceKind::Cuda))
                .status()
                .code(),
            ErrorCode::ModuleTarget);
}

TEST(DeviceModule, NamesOfArchitectures) {
  for (const char *name : {"sm_80", "sm_90a", "sm_120"}) {
    ASSERT_TRUE(GpuArchitecture::parse(name));
    EXPECT_EQ(GpuArchitecture::parse(name)->name(), name);
  }
  for (const char *name : {"", "sm_", "sm_8", "sm_a", "sm_80b", "sm_8 0", "80",
                           "sm_99999999999", "sm_-80"}) {
    EXPECT_FALSE(GpuArchitecture::parse(name)) << name;
  }
  auto runs = [](const char *code, const char *device) {
    GpuArchitecture a = *GpuArchitecture::parse(code);
    GpuArchitecture b = *GpuArchitecture::parse(device);
    return std::make_pair(a.machineCodeRunsOn(b), a.ptxRunsOn(b));
  };
  EXPECT_EQ(runs("sm_80", "sm_86"), std::make_pair(true, true));
  EXPECT_EQ(runs("sm_86", "sm_80"), std::make_pair(false, false));
  EXPECT_EQ(runs("sm_80", "sm_90"), std::make_pair(false, true));
  EXPECT_EQ(runs("sm_90a", "sm_90"), std::make_pair(true, true));
  EXPECT_EQ(runs("sm_90a", "sm_100"), std::make_pair(false, false));
  EXPECT_EQ(runs("sm_120a", "sm_121"), std::make_pair(false, false));
}

/// The error of a plan for a GPU that `change` has changed.
template <typename Change> static Status statusAfter(Change change) {
  TestModule b = copyModule();
  b.function(0).streams = 2;
  b.function(0).events = 1;
  b.lastCommand(0).records = 0;
  auto &launch = b.command<format::LaunchT>(0);
  launch.tasks = launch.workspace = b.size(0);
  launch.threads = 32;
  b.plan().kernels = {"k"};
  b.lastCommand(0).stream = 1;
  b.lastCommand(0).waits = {0};
  b.module.variants[0]->target = "cuda";
  b.module.variants[0]->level = "sm_80";
  b.module.variants[0]->device_kernels.push_back(
      std::make_unique<format::DeviceKernelT>());
  change(b, launch);
  ModuleContents contents;
  contents.module = &b.module;
  contents.code = {""};
  contents.deviceCode.resize(1);
  contents.deviceCode[0].resize(b.module.variants[0]->device_kernels.size());
  return Module::fromBytes(*moduleToBytes(contents)).status();
}

TEST(DeviceModule, StreamsAndBlocksAreChecked) {
  using format::LaunchT;
  EXPECT_TRUE(statusAfter([](TestModule &, LaunchT &) {}).isOk());
  std::vector<Status> bad = {
      statusAfter([](TestModule &, LaunchT &l) { l.threads = 0; }),
      statusAfter([](TestModule &, LaunchT &l) { l.threads = 1025; }),
      statusAfter([](TestModule &, LaunchT &l) { l.shared = 1u << 30; }),
      statusAfter([](TestModule &b, LaunchT &) { b.function(0).streams = 0; }),
      statusAfter([](TestModule &b, LaunchT &) { b.function(0).streams = 1; }),
      statusAfter(
          [](TestModule &b, LaunchT &) { b.function(0).streams = 1u << 31; }),
      statusAfter(
          [](TestModule &b, LaunchT &) { b.function(0).events = 1u << 31; }),
      statusAfter([](TestModule &b, LaunchT &) { b.function(0).events = 0; }),
      statusAfter(
          [](TestModule &b, LaunchT &) { b.lastCommand(0).waits = {1}; }),
      // Recorded twice; never recorded.
      statusAfter(
          [](TestModule &b, LaunchT &) { b.lastCommand(0).records = 0; }),
      statusAfter([](TestModule &b, LaunchT &) {
        b.function(0).commands[0]->records = -1;
      }),
      statusAfter(
          [](TestModule &b, LaunchT &) { b.lastCommand(0).records = -2; }),
      statusAfter([](TestModule &b, LaunchT &) {
        b.module.variants[0]->device_kernels.clear();
      }),
  };
  for (size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(bad[i].code(), ErrorCode::ModuleDamaged) << i;
  }
}

TEST(DeviceModule, ListsThatDoNotMatchAreRefused) {
  TestModule b = copyModule();
  ModuleContents contents;
  contents.module = &b.module;
  contents.code = {""};
  contents.deviceCode.resize(1);
  EXPECT_TRUE(moduleToBytes(contents));
  contents.deviceCode[0].resize(1);
  EXPECT_EQ(moduleToBytes(contents).status().code(), ErrorCode::Internal);
  contents.deviceCode.resize(2);
  EXPECT_EQ(moduleToBytes(contents).status().code(), ErrorCode::Internal);
}
