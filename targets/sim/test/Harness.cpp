//===- Harness.cpp - running kernels in tests ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/test/Harness.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace tilewright;
using namespace tilewright::sim;

namespace {
/// The functions of NVRTC that are needed, opened once.
struct Nvrtc {
  using Program = void *;
  int (*create)(Program *, const char *, const char *, int, const char *const *,
                const char *const *) = nullptr;
  int (*compile)(Program, int, const char *const *) = nullptr;
  int (*ptxSize)(Program, size_t *) = nullptr;
  int (*ptx)(Program, char *) = nullptr;
  int (*logSize)(Program, size_t *) = nullptr;
  int (*log)(Program, char *) = nullptr;
  int (*destroy)(Program *) = nullptr;
  std::string folder;
  bool usable = false;

  Nvrtc() {
    const char *home = std::getenv("CUDA_HOME");
    folder = home ? home : "/usr/local/cuda";
    const std::string names[] = {"libnvrtc.so", "libnvrtc.so.13",
                                 folder + "/lib64/libnvrtc.so",
                                 folder + "/lib64/libnvrtc.so.13"};
    void *library = nullptr;
    for (const std::string &name : names) {
      library = library ? library : dlopen(name.c_str(), RTLD_NOW);
    }
    if (!library) {
      return;
    }
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(library, name));
      return function != nullptr;
    };
    usable = find(create, "nvrtcCreateProgram") &&
             find(compile, "nvrtcCompileProgram") &&
             find(ptxSize, "nvrtcGetPTXSize") && find(ptx, "nvrtcGetPTX") &&
             find(logSize, "nvrtcGetProgramLogSize") &&
             find(log, "nvrtcGetProgramLog") &&
             find(destroy, "nvrtcDestroyProgram");
  }
};
} // namespace

bool tilewright::sim::test::compileCuda(const std::string &source,
                                        const std::string &architecture,
                                        std::string &ptx, std::string &why) {
  static Nvrtc nvrtc;
  if (!nvrtc.usable) {
    why = "NVRTC is not installed";
    return false;
  }
  Nvrtc::Program program = nullptr;
  nvrtc.create(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  std::string arch = "--gpu-architecture=compute_" + architecture;
  std::string include = "--include-path=" + nvrtc.folder + "/include";
  const char *options[] = {arch.c_str(), include.c_str(), "--fmad=false",
                           "--generate-line-info"};
  int result = nvrtc.compile(program, 4, options);
  size_t size = 0;
  if (result != 0) {
    nvrtc.logSize(program, &size);
    std::string log(size, '\0');
    nvrtc.log(program, log.data());
    ADD_FAILURE() << log;
    ptx = "";
  } else {
    nvrtc.ptxSize(program, &size);
    ptx.resize(size);
    nvrtc.ptx(program, ptx.data());
    ptx.resize(size - 1);
  }
  nvrtc.destroy(&program);
  return true;
}

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
