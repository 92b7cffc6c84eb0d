//===- GpuModule.cpp - hand-made modules for a GPU ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/GpuModule.h"

using namespace tilewright;
using namespace tilewright::test;

const char *const test::scaleSource = R"(
extern "C" __global__ void scale(const float *x, float *y, long long n,
                                 long long factor, long long tasks,
                                 unsigned char *workspace, int *status) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] * factor + 1;
  }
})";

GpuModule::GpuModule(const std::string &architecture) {
  module.variants[0]->target = "cuda";
  module.variants[0]->level = architecture;
}

uint32_t GpuModule::kernel(const std::string &name, const std::string &source) {
  auto [entry, isNew] =
      numbers.try_emplace(name, static_cast<uint32_t>(kernels.size()));
  if (isNew) {
    plan().kernels.push_back(name);
    module.variants[0]->device_kernels.push_back(
        std::make_unique<format::DeviceKernelT>());
    kernels.push_back({"", compilePtx(source)});
  }
  return entry->second;
}

format::LaunchT &GpuModule::launch(size_t index, uint32_t kernel, Ids args,
                                   Ids sizes, uint32_t elements) {
  uint32_t blocks = expr(format::ExprOp_CeilDiv, elements, size(32));
  function(index).evaluate.push_back(blocks);
  auto &launch = command<format::LaunchT>(index);
  launch.kernel = kernel;
  launch.args = std::move(args);
  launch.sizes = std::move(sizes);
  launch.tasks = blocks;
  launch.workspace = size(0);
  launch.threads = 32;
  return launch;
}

std::vector<std::byte> GpuModule::bytes() {
  ModuleContents contents;
  contents.module = &module;
  contents.constants.assign(constants.begin(), constants.end());
  contents.code.assign(module.variants.size(), "");
  contents.deviceCode.resize(module.variants.size());
  for (const Code &code : kernels) {
    DeviceCode entry;
    entry.cubin = code.cubin;
    entry.ptx = code.ptx;
    contents.deviceCode[0].push_back(entry);
  }
  return std::move(*moduleToBytes(contents));
}

Result<std::shared_ptr<const Module>>
GpuModule::open(DeviceKind device, const std::string &architecture) {
  OpenOptions options;
  options.device = device;
  options.architecture = architecture;
  return Module::fromBytes(bytes(), options);
}

std::unique_ptr<Context> GpuModule::context(const ContextOptions &options) {
  auto module = open();
  EXPECT_TRUE(module) << module.status().toString();
  if (!module) {
    return nullptr;
  }
  auto context = Context::create(*module, options);
  EXPECT_TRUE(context) << context.status().toString();
  return context ? std::move(*context) : nullptr;
}

OneInput::OneInput() {
  b.function(0).binds = {format::Bind(x, 0, n)};
  b.function(0).evaluate = {dim, bytes};
}

uint32_t OneInput::arena(const std::string &name, uint32_t first,
                         uint32_t last) {
  auto &buffers = b.function(0).buffers;
  buffers.emplace_back(bytes, first, last);
  return b.value(name, format::DType_F32, {dim}, format::Storage_Arena,
                 static_cast<uint32_t>(buffers.size() - 1));
}

format::CommandT &OneInput::scale(uint32_t from, uint32_t to, int64_t factor) {
  b.launch(0, b.kernel("scale", scaleSource), {from, to}, {dim, b.size(factor)},
           dim);
  return b.lastCommand(0);
}

std::vector<float> OneInput::run(Context &context,
                                 const std::vector<float> &values) {
  Tensor x =
      tensor<float>(DType::F32, {static_cast<int64_t>(values.size())}, values);
  auto outputs = context.run({x.view()});
  EXPECT_TRUE(outputs) << outputs.status().toString();
  return outputs ? elements<float>((*outputs)[0]) : std::vector<float>();
}
