//===- CompileCudaTest.cpp - NVRTC, its cache and its errors --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/CompileCuda.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;

namespace {

constexpr const char *kernelText = R"(
twk.kernel @double_it simt threads(64) buffers(%x: memref<?xf32>, %y: memref<?xf32>) sizes()
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %two = arith.constant 2.0 : f32
  %thread = gpu.thread_id x
  %a = memref.load %x[%thread] : memref<?xf32>
  %b = arith.mulf %a, %two : f32
  memref.store %b, %y[%thread] : memref<?xf32>
  twk.return
} loc("twice")
)";

class CompileCuda : public testing::Test {
protected:
  void SetUp() override {
    if (Result<const Nvrtc *> nvrtc = Nvrtc::open(); !nvrtc) {
      GTEST_SKIP() << nvrtc.status().message();
    }
    context.loadDialect<twk::TwkDialect, arith::ArithDialect, gpu::GPUDialect,
                        memref::MemRefDialect, scf::SCFDialect>();
    module = parseSourceString<ModuleOp>(kernelText, &context);
    ASSERT_TRUE(module);
    options.cache.find = [this](const std::string &key) {
      auto found = entries.find(key);
      return found == entries.end() ? std::nullopt
                                    : std::optional(found->second);
    };
    options.cache.store = [this](const std::string &key,
                                 const std::string &bytes) {
      entries[key] = bytes;
    };
  }

  Result<std::vector<CudaKernel>> compile(const char *target = "sm_80") {
    return compileCuda(*module, *findTarget(target), options);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  CudaOptions options;
  std::map<std::string, std::string> entries;
};

TEST_F(CompileCuda, GivesMachineCodeAndPtxForEveryGpu) {
  for (const TargetSpec &target : gpuTargets()) {
    Result<std::vector<CudaKernel>> kernels =
        compile(std::string(target.name).c_str());
    ASSERT_TRUE(kernels) << kernels.status().message();
    ASSERT_EQ(kernels->size(), 1u);
    const CudaKernel &kernel = kernels->front();
    EXPECT_EQ(kernel.name, "double_it");
    EXPECT_EQ(kernel.binary.cubin.substr(1, 3), "ELF");
    EXPECT_NE(kernel.binary.ptx.find(".target " + std::string(target.name)),
              std::string::npos);
    EXPECT_NE(kernel.binary.ptx.find(".entry double_it"), std::string::npos);
    EXPECT_NE(kernel.source.find("// ONNX nodes: twice"), std::string::npos);
    EXPECT_GT(kernel.binary.registers, 0u);
    EXPECT_EQ(kernel.binary.spillBytes, 0u);
  }
  EXPECT_EQ(entries.size(), gpuTargets().size());
}

TEST_F(CompileCuda, TakesFromTheCacheWhatIsTheSame) {
  Result<std::vector<CudaKernel>> first = compile();
  ASSERT_TRUE(first) << first.status().message();
  EXPECT_GT(first->front().milliseconds, 0);
  Result<std::vector<CudaKernel>> second = compile();
  ASSERT_TRUE(second) << second.status().message();
  EXPECT_EQ(second->front().milliseconds, 0);
  EXPECT_EQ(second->front().binary.cubin, first->front().binary.cubin);
  EXPECT_EQ(second->front().binary.ptx, first->front().binary.ptx);
  EXPECT_EQ(second->front().binary.registers, first->front().binary.registers);
  EXPECT_EQ(entries.size(), 1u);
}

TEST_F(CompileCuda, CompilesAgainWhenAnEntryIsDamaged) {
  ASSERT_TRUE(compile());
  std::string &entry = entries.begin()->second;
  std::string whole = entry;
  entry.back() ^= 1;
  Result<std::vector<CudaKernel>> again = compile();
  ASSERT_TRUE(again) << again.status().message();
  EXPECT_GT(again->front().milliseconds, 0);
  EXPECT_EQ(entries.begin()->second, whole);
  entry.resize(10);
  ASSERT_TRUE(compile());
  EXPECT_EQ(entries.begin()->second, whole);
}

TEST_F(CompileCuda, TakesASourceInPlaceOfItsOwn) {
  options.overrides["double_it"] =
      "extern \"C\" __global__ void double_it() { /* mine */ }";
  Result<std::vector<CudaKernel>> kernels = compile();
  ASSERT_TRUE(kernels) << kernels.status().message();
  EXPECT_NE(kernels->front().source.find("mine"), std::string::npos);
}

TEST_F(CompileCuda, SaysWhatNvrtcDoesNotTake) {
  options.overrides["double_it"] = "this is no C++";
  Status status = compile().status();
  EXPECT_EQ(status.code(), ErrorCode::KernelRejected);
  EXPECT_NE(status.message().find("double_it"), std::string::npos);
  EXPECT_NE(status.message().find("ONNX nodes: twice"), std::string::npos);
  EXPECT_NE(status.message().find("error"), std::string::npos);
}

TEST_F(CompileCuda, RefusesASourceForNoKernel) {
  options.overrides["triple_it"] = "";
  Status status = compile().status();
  EXPECT_EQ(status.code(), ErrorCode::KernelRejected);
  EXPECT_NE(status.message().find("triple_it"), std::string::npos);
}

TEST_F(CompileCuda, RefusesKernelsForProcessors) {
  module = parseSourceString<ModuleOp>(
      R"(twk.kernel @add simd buffers() sizes() tasks(%b: index, %e: index) worker(%w: index)
         workspace(%s: memref<?xi8>) status(%t: memref<1xi32>) { twk.return })",
      &context);
  ASSERT_TRUE(module);
  EXPECT_EQ(compile().status().code(), ErrorCode::Internal);
}

} // namespace
