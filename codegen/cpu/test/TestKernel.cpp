//===- TestKernel.cpp - compile and call kernels in tests -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/test/TestKernel.h"

#include "mlir/Parser/Parser.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace tilewright::test {

namespace {
struct KernelArgs {
  void *const *buffers;
  const int64_t *sizes;
  void *workspace;
  int32_t *status;
};
using Kernel = void (*)(const KernelArgs *, int64_t, int64_t, int32_t);
} // namespace

Result<CpuImage> compileText(const std::string &text, const TargetSpec &target,
                             const CpuOptions &options) {
  DialectRegistry registry;
  registerCpuDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    return Status(ErrorCode::Internal, "the test's kernel does not parse");
  }
  return compileKernels(*module, target, options);
}

LoadedImage::LoadedImage(const CpuImage &image) : workspace(1 << 16) {
  file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0 || write(file, image.bytes.data(), image.bytes.size()) !=
                      static_cast<ssize_t>(image.bytes.size())) {
    ADD_FAILURE() << "cannot write the image";
    return;
  }
  std::string path = "/proc/self/fd/" + std::to_string(file);
  handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
}

LoadedImage::~LoadedImage() {
  if (handle) {
    dlclose(handle);
  }
  close(file);
}

int LoadedImage::call(const std::string &name, std::vector<void *> buffers,
                      std::vector<int64_t> sizes, int64_t begin, int64_t end) {
  auto kernel = reinterpret_cast<Kernel>(dlsym(handle, name.c_str()));
  if (!kernel) {
    ADD_FAILURE() << "there is no kernel " << name;
    return -1;
  }
  int32_t status = 0;
  KernelArgs args = {buffers.data(), sizes.data(), workspace.data(), &status};
  kernel(&args, begin, end, 0);
  return status;
}

std::string kernelText(const std::string &name,
                       const std::vector<std::string> &elements,
                       unsigned numSizes, const std::string &body) {
  std::string text = "twk.kernel @" + name + " simd buffers(";
  for (size_t i = 0; i < elements.size(); ++i) {
    text += (i ? ", %b" : "%b") + std::to_string(i) + ": memref<?x" +
            elements[i] + ">";
  }
  text += ") sizes(";
  for (unsigned i = 0; i < numSizes; ++i) {
    text += (i ? ", %n" : "%n") + std::to_string(i) + ": index";
  }
  return text +
         ") tasks(%begin: index, %end: index) worker(%worker: index)\n"
         "    workspace(%workspace: memref<?xi8>) status(%status: "
         "memref<1xi32>) {\n" +
         body + "  twk.return\n}\n";
}

std::unique_ptr<LoadedImage> EveryLevel::load(const std::string &text,
                                              const CpuOptions &options) {
  Result<CpuImage> image = compileText(text, target(), options);
  if (!image) {
    ADD_FAILURE() << image.status().message();
    return nullptr;
  }
  if (!runsOnHost(target())) {
    // A macro that returns from this function; the caller sees null.
    [&] {
      GTEST_SKIP() << "this machine lacks " << target().name
                   << "; compiled only";
    }();
    return nullptr;
  }
  auto loaded = std::make_unique<LoadedImage>(*image);
  return loaded->isLoaded() ? std::move(loaded) : nullptr;
}

std::vector<const TargetSpec *> everyLevel() {
  std::vector<const TargetSpec *> result;
  for (const TargetSpec &target : allTargets()) {
    result.push_back(&target);
  }
  return result;
}

std::string levelName(const testing::TestParamInfo<const TargetSpec *> &info) {
  std::string name(info.param->name);
  for (char &c : name) {
    c = c == '-' ? '_' : c;
  }
  return name;
}

} // namespace tilewright::test
