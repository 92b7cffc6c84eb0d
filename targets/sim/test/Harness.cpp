//===- Harness.cpp - running kernels in tests ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Harness.h"

using namespace tilewright;
using namespace tilewright::sim;

tilewright::sim::test::Device::Device() {
  auto made = DeviceMemory::create(uint64_t(1) << 28);
  EXPECT_TRUE(made.isOk()) << made.status().message();
  memory = std::move(*made);
  options.threads = 1;
}

bool tilewright::sim::test::Device::load(const std::string &ptx) {
  auto program = Program::parse(ptx);
  if (!program) {
    ADD_FAILURE() << program.status().message() << "\n" << ptx;
    return false;
  }
  auto loaded = Instance::load(*program, *memory);
  if (!loaded) {
    ADD_FAILURE() << loaded.status().message();
    return false;
  }
  instance = *loaded;
  return true;
}

uint64_t tilewright::sim::test::Device::make(uint64_t size,
                                             const std::string &label) {
  auto address = memory->allocate(size, label);
  EXPECT_TRUE(address.isOk()) << address.status().message();
  return address ? *address : 0;
}

Status tilewright::sim::test::Device::run(
    const std::string &name, uint32_t grid, uint32_t block,
    const std::vector<uint64_t> &parameters, uint32_t shared) {
  const Kernel *kernel = instance->program().find(name);
  if (!kernel) {
    ADD_FAILURE() << "no kernel " << name;
    return Status(ErrorCode::OptionInvalid, "no kernel");
  }
  EXPECT_EQ(kernel->parameters.size(), parameters.size());
  std::vector<uint8_t> block8(kernel->parameterBytes);
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::memcpy(&block8[kernel->parameters[i].offset], &parameters[i],
                kernel->parameters[i].bytes);
  }
  LaunchShape shape;
  shape.grid.x = grid;
  shape.block.x = block;
  shape.sharedBytes = shared;
  fault = Fault();
  return execute(*instance, *kernel, shape, block8.data(), block8.size(),
                 *memory, options, counters, &fault);
}
