//===- CompileKernelsTest.cpp - kernels run, images import nothing --------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/test/TestKernel.h"

#include "llvm/Object/ELFObjectFile.h"

#include <immintrin.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {
INSTANTIATE_TEST_SUITE_P(Cpu, EveryLevel, testing::ValuesIn(everyLevel()),
                         levelName);

const char scaleBody[] = R"(
  %one = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  scf.for %i = %begin to %end step %one {
    %a = memref.load %b0[%i] : memref<?xf32>
    %b = arith.mulf %a, %two : f32
    memref.store %b, %b1[%i] : memref<?xf32>
  }
)";

TEST_P(EveryLevel, ScalarLoop) {
  auto image = load(kernelText("scale", {"f32", "f32"}, 0, scaleBody));
  if (!image) {
    return;
  }
  std::vector<float> x = {1, 2, 3, 4, 5}, y(5, -1);
  EXPECT_EQ(image->call("scale", {x.data(), y.data()}, {}, 1, 4), 0);
  EXPECT_EQ(y, (std::vector<float>{-1, 4, 6, 8, -1}));
}

TEST_P(EveryLevel, DenormalsAreKeptOrZero) {
  std::string text = kernelText("scale", {"f32", "f32"}, 0, scaleBody);
  CpuOptions options;
  for (bool keeps : {true, false}) {
    options.keepDenormals = keeps;
    auto image = load(text, options);
    if (!image) {
      return;
    }
    const float denormal = 1e-40f, least = -1.5e-38f;
    std::vector<float> x = {denormal, least, 1}, y(3, -1);
    unsigned before = _mm_getcsr();
    EXPECT_EQ(image->call("scale", {x.data(), y.data()}, {}, 0, 3), 0);
    EXPECT_EQ(_mm_getcsr() & 0xffc0, before & 0xffc0) << "restored";
    EXPECT_EQ(y, (std::vector<float>{keeps ? 2 * denormal : 0, 2 * least, 2}));
  }
}

TEST_P(EveryLevel, MaskedTailsGathersAndReductions) {
  auto image = load(kernelText("mixed", {"f32", "i64", "f32", "f32"}, 1, R"(
  %zero = arith.constant 0 : index
  %step = arith.constant 16 : index
  %pad = arith.constant dense<0.0> : vector<16xf32>
  %izero = arith.constant dense<0> : vector<16xi64>
  %start = arith.constant 0.0 : f32
  %sum = scf.for %i = %zero to %n0 step %step iter_args(%acc = %start) -> f32 {
    %left = arith.subi %n0, %i : index
    %mask = vector.create_mask %left : vector<16xi1>
    %at = vector.maskedload %b1[%i], %mask, %izero
        : memref<?xi64>, vector<16xi1>, vector<16xi64> into vector<16xi64>
    %g = vector.gather %b0[%zero] [%at], %mask, %pad
        : memref<?xf32>, vector<16xi64>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.maskedstore %b2[%i], %mask, %g : memref<?xf32>, vector<16xi1>, vector<16xf32>
    %r = vector.reduction <add>, %g : vector<16xf32> into f32
    %s = arith.addf %acc, %r : f32
    scf.yield %s : f32
  }
  memref.store %sum, %b3[%zero] : memref<?xf32>
  %code = arith.constant 1 : i32
  memref.store %code, %status[%zero] : memref<1xi32>
)"));
  if (!image) {
    return;
  }
  const int n = 37;
  std::vector<float> table(100), y(n + 1, -1), sum(1), expected(n + 1, -1);
  std::vector<int64_t> at(n);
  float total = 0;
  for (int i = 0; i < 100; ++i) {
    table[i] = i;
  }
  for (int i = 0; i < n; ++i) {
    at[i] = i * 17 % 100;
    expected[i] = table[at[i]];
    total += expected[i];
  }
  EXPECT_EQ(image->call("mixed",
                        {table.data(), at.data(), y.data(), sum.data()}, {n}, 0,
                        1),
            1);
  EXPECT_EQ(y, expected);
  EXPECT_EQ(sum[0], total);
}

TEST_P(EveryLevel, VectorsOfSeveralDimensions) {
  auto image = load(kernelText("tile", {"f32", "f32"}, 0, R"(
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : vector<2x8xf32>
  %a = vector.load %b0[%c0] : memref<?xf32>, vector<8xf32>
  %b = vector.load %b0[%c8] : memref<?xf32>, vector<8xf32>
  %t0 = vector.insert %a, %zero[0] : vector<8xf32> into vector<2x8xf32>
  %t1 = vector.insert %b, %t0[1] : vector<8xf32> into vector<2x8xf32>
  %positive = arith.cmpf ogt, %t1, %zero : vector<2x8xf32>
  %relu = arith.select %positive, %t1, %zero : vector<2x8xi1>, vector<2x8xf32>
  %fma = vector.fma %relu, %relu, %t1 : vector<2x8xf32>
  %sum = vector.multi_reduction <add>, %fma, %a [0] : vector<2x8xf32> to vector<8xf32>
  vector.store %sum, %b1[%c0] : memref<?xf32>, vector<8xf32>
)"));
  if (!image) {
    return;
  }
  std::vector<float> x(16), y(8);
  for (int i = 0; i < 16; ++i) {
    x[i] = i - 5;
  }
  image->call("tile", {x.data(), y.data()}, {}, 0, 1);
  auto f = [](float v) { return (v > 0 ? v * v : 0) + v; };
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(y[i], x[i] + f(x[i]) + f(x[i + 8])) << i;
  }
}

TEST(CompileKernels, ReportsEachKernelAndDumpsItsCode) {
  std::vector<std::string> dumped;
  CpuOptions options;
  options.dump = [&](llvm::StringRef kernel, CpuDump kind,
                     llvm::StringRef text) {
    EXPECT_TRUE(text.contains(kernel));
    dumped.push_back(kernel.str() + (kind == CpuDump::LlvmIr ? ":ir" : ":asm"));
  };
  std::string text;
  for (const char *name : {"c", "a", "b"}) {
    text += kernelText(name, {"f32", "f32"}, 0, scaleBody);
  }
  Result<CpuImage> image = compileText(text, *findTarget("avx2"), options);
  ASSERT_TRUE(image.isOk()) << image.status().message();
  ASSERT_EQ(image->kernels.size(), 3u);
  EXPECT_EQ(image->kernels[0].name, "c");
  EXPECT_EQ(image->kernels[2].name, "b");
  EXPECT_GT(image->kernels[1].milliseconds, 0);
  EXPECT_GT(image->kernels[1].objectBytes, 0u);
  EXPECT_EQ(dumped.size(), 6u);
}

TEST(CompileKernels, SameInputSameBytes) {
  std::string text = kernelText("a", {"f32", "f32"}, 0, scaleBody) +
                     kernelText("b", {"f32", "f32"}, 1, scaleBody);
  Result<CpuImage> first = compileText(text, *findTarget("avx512"));
  Result<CpuImage> second = compileText(text, *findTarget("avx512"));
  ASSERT_TRUE(first.isOk() && second.isOk());
  EXPECT_EQ(first->bytes, second->bytes);
}

TEST(CompileKernels, AnImageImportsNothing) {
  // A copy loop and a fill loop, which LLVM likes to turn into library calls.
  std::string text = kernelText("copy", {"f32", "f32"}, 0, R"(
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %begin to %end step %one {
    %a = memref.load %b0[%i] : memref<?xf32>
    memref.store %a, %b1[%i] : memref<?xf32>
  }
  scf.for %i = %begin to %end step %one {
    memref.store %zero, %b0[%i] : memref<?xf32>
  }
)");
  for (const TargetSpec *target : everyLevel()) {
    Result<CpuImage> image = compileText(text, *target);
    ASSERT_TRUE(image.isOk()) << image.status().message();
    llvm::StringRef bytes(reinterpret_cast<const char *>(image->bytes.data()),
                          image->bytes.size());
    auto file = llvm::object::ObjectFile::createELFObjectFile(
        llvm::MemoryBufferRef(bytes, "image"), false);
    ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
    auto &elf = llvm::cast<llvm::object::ELFObjectFileBase>(**file);
    EXPECT_EQ(elf.getEType(), llvm::ELF::ET_DYN);
    for (const auto &symbol : elf.getDynamicSymbolIterators()) {
      auto flags = symbol.getFlags();
      ASSERT_TRUE(bool(flags));
      auto name = symbol.getName();
      ASSERT_TRUE(bool(name));
      EXPECT_FALSE(*flags & llvm::object::SymbolRef::SF_Undefined)
          << name->str();
      EXPECT_EQ(*name, "copy");
    }
  }
}

TEST(CompileKernels, AFailureNamesTheKernel) {
  // The verifier lets vector.print through: it belongs to the dialect vector.
  std::string text =
      kernelText("good", {}, 0, "") +
      kernelText("talks", {}, 0, "  vector.print %begin : index\n");
  Result<CpuImage> image = compileText(text, *findTarget("avx2"));
  ASSERT_FALSE(image.isOk());
  EXPECT_EQ(image.status().code(), ErrorCode::Internal);
  EXPECT_NE(image.status().message().find("'talks'"), std::string::npos)
      << image.status().message();
}
} // namespace
