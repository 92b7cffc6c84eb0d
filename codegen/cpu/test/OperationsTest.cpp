//===- OperationsTest.cpp - operations that tempt LLVM into library calls -===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Bodies that must compile at every level to code that imports nothing; the
// ones with semantics worth checking have tests of their own.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/test/TestKernel.h"

#include <cmath>
#include <limits>

using namespace tilewright;
using namespace tilewright::test;

namespace {
INSTANTIATE_TEST_SUITE_P(Operations, EveryLevel,
                         testing::ValuesIn(everyLevel()), levelName);

/// Applies `op` to what the buffers %b0 and %b1 hold, as scalars and as vectors
/// of 16 and of an odd length.
std::string everyShape(const std::string &name, const std::string &op,
                       const std::string &from, const std::string &to,
                       unsigned operands) {
  std::string body = "  %c0 = arith.constant 0 : index\n";
  bool isCast = from != to;
  for (const char *length : {"16", "7", "4", "1"}) {
    auto shape = [&](const std::string &element) {
      return "vector<" + std::string(length) + "x" + element + ">";
    };
    std::string suffix = length;
    body += "  %x" + suffix + " = vector.load %b0[%begin] : memref<?x" + from +
            ">, " + shape(from) + "\n  %y" + suffix +
            " = vector.load %b1[%begin] : memref<?x" + from + ">, " +
            shape(from) + "\n  %z" + suffix + " = " + op + " %x" + suffix +
            (operands == 2 ? ", %y" + suffix : "") + " : " + shape(from) +
            (isCast ? " to " + shape(to) : "") + "\n  vector.store %z" +
            suffix + ", %b2[%end] : memref<?x" + to + ">, " + shape(to) + "\n";
  }
  body += "  %x = memref.load %b0[%c0] : memref<?x" + from +
          ">\n  %y = memref.load %b1[%c0] : "
          "memref<?x" +
          from + ">\n  %z = " + op + " %x" + (operands == 2 ? ", %y" : "") +
          " : " + from + (isCast ? " to " + to : "") +
          "\n  memref.store %z, %b2[%c0] : memref<?x" + to + ">\n";
  return kernelText(name, {from, from, to}, 0, body);
}

TEST_P(EveryLevel, ArithmeticImportsNothing) {
  std::string text;
  unsigned count = 0;
  auto add = [&](const char *op, const char *from, const char *to,
                 unsigned operands) {
    text += everyShape("k" + std::to_string(count++) + "_" + from + "_" + to,
                       op, from, to, operands);
  };
  for (const char *op :
       {"arith.addf", "arith.divf", "arith.remf", "arith.maximumf",
        "arith.minimumf", "arith.maxnumf", "arith.minnumf"}) {
    for (const char *type : {"f16", "bf16", "f32", "f64"}) {
      add(op, type, type, 2);
    }
  }
  for (const char *op :
       {"arith.muli", "arith.divsi", "arith.divui", "arith.remsi",
        "arith.remui", "arith.ceildivsi", "arith.floordivsi", "arith.ceildivui",
        "arith.shrsi", "arith.maxsi", "arith.minui", "math.ipowi"}) {
    for (const char *type : {"i8", "i16", "i32", "i64"}) {
      add(op, type, type, 2);
    }
  }
  for (const char *integer : {"i8", "i16", "i32", "i64"}) {
    for (const char *floating : {"f16", "bf16", "f32", "f64"}) {
      add("arith.sitofp", integer, floating, 1);
      add("arith.uitofp", integer, floating, 1);
      add("arith.fptosi", floating, integer, 1);
      add("arith.fptoui", floating, integer, 1);
    }
    for (const char *op :
         {"math.ctlz", "math.cttz", "math.ctpop", "math.absi"}) {
      add(op, integer, integer, 1);
    }
  }
  for (const char *op :
       {"math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven",
        "math.absf", "arith.negf", "math.sqrt", "math.rsqrt"}) {
    for (const char *type : {"f16", "bf16", "f32", "f64"}) {
      add(op, type, type, 1);
    }
  }
  Result<CpuImage> image = compileText(text, target());
  ASSERT_TRUE(image.isOk()) << image.status().message();
  EXPECT_EQ(image->kernels.size(), count);
}

TEST_P(EveryLevel, VectorOperationsImportNothing) {
  const char *bodies[] = {
      // Reductions of all kinds.
      R"(
  %x = vector.load %b0[%begin] : memref<?xf32>, vector<32xf32>
  %acc = arith.constant 1.0 : f32
  %0 = vector.reduction <add>, %x, %acc : vector<32xf32> into f32
  %1 = vector.reduction <mul>, %x : vector<32xf32> into f32
  %2 = vector.reduction <maximumf>, %x : vector<32xf32> into f32
  %3 = vector.reduction <minimumf>, %x : vector<32xf32> into f32
  %4 = vector.reduction <maxnumf>, %x : vector<32xf32> into f32
  %5 = arith.addf %0, %1 : f32
  %6 = arith.addf %2, %3 : f32
  %7 = arith.addf %5, %6 : f32
  %8 = arith.addf %4, %7 : f32
  memref.store %8, %b1[%begin] : memref<?xf32>
)",
      // Transposes, slices and shuffles.
      R"(
  %zero = arith.constant dense<0.0> : vector<4x8xf32>
  %x = vector.load %b0[%begin] : memref<?xf32>, vector<32xf32>
  %s = vector.shape_cast %x : vector<32xf32> to vector<4x8xf32>
  %t = vector.transpose %s, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
  %e = vector.extract_strided_slice %t {offsets = [2, 0], sizes = [4, 4], strides = [1, 1]} : vector<8x4xf32> to vector<4x4xf32>
  %i = vector.insert_strided_slice %e, %zero {offsets = [0, 4], strides = [1, 1]} : vector<4x4xf32> into vector<4x8xf32>
  %r0 = vector.extract %i[0] : vector<8xf32> from vector<4x8xf32>
  %r1 = vector.extract %i[1] : vector<8xf32> from vector<4x8xf32>
  %m = vector.interleave %r0, %r1 : vector<8xf32> -> vector<16xf32>
  %d0, %d1 = vector.deinterleave %m : vector<16xf32> -> vector<8xf32>
  %h = vector.shuffle %d0, %d1 [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xf32>, vector<8xf32>
  vector.store %h, %b1[%begin] : memref<?xf32>, vector<8xf32>
)",
      // Masked transfers, scatter, compress and expand.
      R"(
  %pad = arith.constant 0.0 : f32
  %lane = vector.step : vector<16xindex>
  %mask = vector.create_mask %end : vector<16xi1>
  %x = vector.transfer_read %b0[%begin], %pad, %mask {in_bounds = [true]} : memref<?xf32>, vector<16xf32>
  vector.transfer_write %x, %b1[%begin], %mask {in_bounds = [true]} : vector<16xf32>, memref<?xf32>
  vector.scatter %b1[%begin] [%lane], %mask, %x : memref<?xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32>
  vector.compressstore %b1[%begin], %mask, %x : memref<?xf32>, vector<16xi1>, vector<16xf32>
  %y = vector.expandload %b0[%begin], %mask, %x : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  %f = vector.fma %x, %y, %x : vector<16xf32>
  vector.maskedstore %b1[%begin], %mask, %f : memref<?xf32>, vector<16xi1>, vector<16xf32>
)",
      // Typed views of the workspace, and a stack buffer.
      R"(
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %stack = memref.alloca() : memref<64xf32>
  %row = memref.view %workspace[%c64][%end] : memref<?xi8> to memref<?xf32>
  %x = vector.load %b0[%begin] : memref<?xf32>, vector<16xf32>
  vector.store %x, %row[%c0] : memref<?xf32>, vector<16xf32>
  vector.store %x, %stack[%begin] : memref<64xf32>, vector<16xf32>
  %y = memref.load %stack[%end] : memref<64xf32>
  memref.store %y, %b1[%begin] : memref<?xf32>
)",
      // Operations of math beyond the elementary functions.
      R"(
  %x = vector.load %b0[%begin] : memref<?xf32>, vector<16xf32>
  %a, %b = math.sincos %x : vector<16xf32>
  %c = math.clampf %a to [%b, %x] : vector<16xf32>
  %n = math.isnan %c : vector<16xf32>
  %i = math.isinf %c : vector<16xf32>
  %f = math.isfinite %c : vector<16xf32>
  %ni = arith.ori %n, %i : vector<16xi1>
  %nif = arith.xori %ni, %f : vector<16xi1>
  %d = arith.select %nif, %c, %x : vector<16xi1>, vector<16xf32>
  %h = arith.truncf %d : vector<16xf32> to vector<16xf16>
  %g = math.fma %h, %h, %h : vector<16xf16>
  %r = vector.reduction <add>, %g : vector<16xf16> into f16
  %e = arith.extf %r : f16 to f32
  %p = math.ipowi %begin, %end : index
  memref.store %e, %b1[%p] : memref<?xf32>
)",
      // Control flow with values, and selects of small floats.
      R"(
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %any = arith.cmpi slt, %begin, %end : index
  %r = scf.if %any -> f32 {
    %s = scf.for %i = %begin to %end step %one iter_args(%a = %zero) -> f32 {
      %x = memref.load %b0[%i] : memref<?xf32>
      %h = arith.truncf %x : f32 to f16
      %g = arith.extf %h : f16 to f32
      %n = arith.addf %a, %g : f32
      scf.yield %n : f32
    }
    scf.yield %s : f32
  } else {
    scf.yield %zero : f32
  }
  %w = scf.while (%v = %r) : (f32) -> f32 {
    %more = arith.cmpf ogt, %v, %zero : f32
    scf.condition(%more) %v : f32
  } do {
  ^bb0(%v: f32):
    %n = arith.subf %v, %v : f32
    scf.yield %n : f32
  }
  %k = arith.index_cast %begin : index to i32
  %t = arith.sitofp %k : i32 to f32
  %u = index.maxs %begin, %end
  memref.store %t, %b1[%u] : memref<?xf32>
)"};
  std::string text;
  unsigned count = 0;
  for (const char *body : bodies) {
    text += kernelText("k" + std::to_string(count++), {"f32", "f32"}, 0, body);
  }
  Result<CpuImage> image = compileText(text, target());
  EXPECT_TRUE(image.isOk()) << image.status().message();
}

TEST(VectorFma, IsOneInstructionWhereTheLevelHasIt) {
  std::string text = kernelText("fma", {"f32"}, 0, R"(
  %x = vector.load %b0[%begin] : memref<?xf32>, vector<8xf32>
  %y = vector.fma %x, %x, %x : vector<8xf32>
  vector.store %y, %b0[%begin] : memref<?xf32>, vector<8xf32>
)");
  for (const TargetSpec *target : everyLevel()) {
    std::string assembly;
    CpuOptions options;
    options.dump = [&](llvm::StringRef, CpuDump kind, llvm::StringRef dumped) {
      assembly = kind == CpuDump::Assembly ? dumped.str() : assembly;
    };
    ASSERT_TRUE(compileText(text, *target, options).isOk());
    EXPECT_EQ(assembly.find("vfmadd") != std::string::npos, target->hasFma)
        << assembly;
    EXPECT_EQ(assembly.find("mulps") == std::string::npos, target->hasFma)
        << assembly;
  }
}

TEST_P(EveryLevel, MaximumAndMinimumPassNaN) {
  auto image = load(kernelText("extremes", {"f32", "f32", "f32", "f32"}, 0, R"(
  %c0 = arith.constant 0 : index
  %a = vector.load %b0[%c0] : memref<?xf32>, vector<8xf32>
  %b = vector.load %b1[%c0] : memref<?xf32>, vector<8xf32>
  %max = arith.maximumf %a, %b : vector<8xf32>
  %min = arith.minimumf %a, %b : vector<8xf32>
  vector.store %max, %b2[%c0] : memref<?xf32>, vector<8xf32>
  vector.store %min, %b3[%c0] : memref<?xf32>, vector<8xf32>
)"));
  if (!image) {
    return;
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> a = {1, nan, 2, nan, 0.0f, -0.0f, INFINITY, -3}, max(8),
                     min(8);
  std::vector<float> b = {2, 1, nan, nan, -0.0f, 0.0f, 5, -4};
  image->call("extremes", {a.data(), b.data(), max.data(), min.data()}, {}, 0,
              1);
  EXPECT_EQ(max[0], 2);
  EXPECT_EQ(min[7], -4);
  for (int i = 1; i < 4; ++i) {
    EXPECT_TRUE(std::isnan(max[i]) && std::isnan(min[i])) << i;
  }
  for (int i = 4; i < 6; ++i) {
    EXPECT_FALSE(std::signbit(max[i])) << i;
    EXPECT_TRUE(std::signbit(min[i])) << i;
  }
  EXPECT_EQ(max[6], INFINITY);
}

TEST_P(EveryLevel, InPlaceWithMayAlias) {
  std::string text = kernelText("shift", {"f32", "f32"}, 0, R"(
  %one = arith.constant 1 : index
  scf.for %i = %begin to %end step %one {
    %next = arith.addi %i, %one : index
    %a = memref.load %b0[%i] : memref<?xf32>
    memref.store %a, %b1[%next] : memref<?xf32>
  }
)");
  text.replace(text.find(" simd "), 6, " simd may_alias ");
  auto image = load(text);
  if (!image) {
    return;
  }
  // Each store is seen by the next load.
  std::vector<float> x = {1, 2, 3, 4, 5};
  image->call("shift", {x.data(), x.data()}, {}, 0, 4);
  EXPECT_EQ(x, (std::vector<float>{1, 1, 1, 1, 1}));
}
} // namespace
