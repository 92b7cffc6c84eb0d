//===- Nvrtc.cpp - kernels for tests --------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/test/Nvrtc.h"

#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace tilewright::test {
namespace {

/// The functions of NVRTC that are needed, declared as its manual does.
struct Compiler {
  using Program = void *;
  int (*create)(Program *, const char *, const char *, int, const char *const *,
                const char *const *) = nullptr;
  int (*compile)(Program, int, const char *const *) = nullptr;
  int (*ptxSize)(Program, size_t *) = nullptr;
  int (*ptx)(Program, char *) = nullptr;
  int (*logSize)(Program, size_t *) = nullptr;
  int (*log)(Program, char *) = nullptr;
  int (*destroy)(Program *) = nullptr;

  static const Compiler *get() {
    static const Compiler *compiler = open();
    return compiler;
  }

private:
  static const Compiler *open() {
    std::vector<std::string> folders;
    for (const char *variable :
         {"TILEWRIGHT_CUDA_PATH", "CUDA_PATH", "CUDA_HOME"}) {
      if (const char *folder = std::getenv(variable)) {
        folders.push_back(std::string(folder) + "/lib64/");
        folders.push_back(std::string(folder) + "/lib/");
      }
    }
    folders.push_back("/usr/local/cuda/lib64/");
    if (const char *home = std::getenv("HOME")) {
      folders.push_back(std::string(home) + "/.cache/tilewright/cuda/lib/");
    }
    folders.push_back("");
    void *library = nullptr;
    for (const std::string &folder : folders) {
      for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
        library = library ? library : dlopen((folder + name).c_str(), RTLD_NOW);
      }
    }
    if (!library) {
      return nullptr;
    }
    static Compiler compiler;
    auto find = [&](const char *name, auto &function) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(library, name));
    };
    find("nvrtcCreateProgram", compiler.create);
    find("nvrtcCompileProgram", compiler.compile);
    find("nvrtcGetPTXSize", compiler.ptxSize);
    find("nvrtcGetPTX", compiler.ptx);
    find("nvrtcGetProgramLogSize", compiler.logSize);
    find("nvrtcGetProgramLog", compiler.log);
    find("nvrtcDestroyProgram", compiler.destroy);
    return &compiler;
  }
};

} // namespace

bool hasNvrtc() { return Compiler::get() != nullptr; }

std::string compilePtx(const std::string &source,
                       const std::string &architecture) {
  static std::map<std::pair<std::string, std::string>, std::string> known;
  std::string &ptx = known[{source, architecture}];
  if (!ptx.empty()) {
    return ptx;
  }
  const Compiler &compiler = *Compiler::get();
  Compiler::Program program = nullptr;
  EXPECT_EQ(compiler.create(&program, source.c_str(), "kernel.cu", 0, nullptr,
                            nullptr),
            0);
  std::string option = "--gpu-architecture=compute_" + architecture.substr(3);
  const char *options[] = {option.c_str(), "--fmad=false",
                           "--generate-line-info"};
  int result = compiler.compile(program, 3, options);
  size_t size = 0;
  compiler.logSize(program, &size);
  std::string log(size, '\0');
  compiler.log(program, log.data());
  EXPECT_EQ(result, 0) << log;
  compiler.ptxSize(program, &size);
  ptx.resize(size);
  compiler.ptx(program, ptx.data());
  compiler.destroy(&program);
  while (!ptx.empty() && ptx.back() == '\0') {
    ptx.pop_back();
  }
  return ptx;
}

} // namespace tilewright::test
