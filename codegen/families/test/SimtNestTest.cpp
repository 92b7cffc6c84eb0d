//===- SimtNestTest.cpp - maps and windows on GPUs --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/MmaCases.h"
#include <cmath>
#include <cstring>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Bytes = std::vector<uint8_t>;

class SimtNest : public testing::Test {
protected:
  void SetUp() override {
    if (!hasCudaCompiler()) {
      GTEST_SKIP() << "NVRTC is not installed";
    }
  }
};

std::unique_ptr<SimtRegion> compile(const std::string &text) {
  return SimtRegion::compile(text, *findTarget("sm_80"));
}

Bytes floats(size_t count, int seed) {
  Bytes bytes(count * 4);
  for (size_t i = 0; i < count; ++i) {
    float value = float(int((i * 37 + seed * 11) % 101) - 50) / 8;
    std::memcpy(&bytes[i * 4], &value, 4);
  }
  return bytes;
}

float at(const Bytes &bytes, size_t i) {
  float value;
  std::memcpy(&value, &bytes[i * 4], 4);
  return value;
}

} // namespace

TEST_F(SimtNest, AddsVectorsWithEveryTail) {
  auto region = compile(R"(
    func.func @f(%x: tensor<?xf32, #tw.dims<[N]>>) {
      %r = tw.fused @add(%a = %x : tensor<?xf32, #tw.dims<[N]>>,
                         %b = %x : tensor<?xf32, #tw.dims<[N]>>) {
        %s = tw.map(%i) {
          %p = tw.load %a[%i] : tensor<?xf32, #tw.dims<[N]>> -> f32
          %q = tw.load %b[%i] : tensor<?xf32, #tw.dims<[N]>> -> f32
          %t = arith.addf %p, %q : f32
          tw.yield %t : f32
        } : tensor<?xf32, #tw.dims<[N]>>
        tw.yield %s : tensor<?xf32, #tw.dims<[N]>>
      } : tensor<?xf32, #tw.dims<[N]>>
      return
    })");
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, "pointwise.simt");
  for (int n : {0, 1, 3, 4, 5, 127, 128, 4096, 4099}) {
    std::vector<Bytes> buffers = {floats(n, 1), floats(n, 2), Bytes(n * 4)};
    EXPECT_EQ(region->run(buffers, 1, {{"N", n}}), 0);
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(at(buffers[2], i), at(buffers[0], i) + at(buffers[1], i)) << i;
    }
    if (n == 4096) { // 32 threads of 16 bytes each
      EXPECT_EQ(region->counters.globalLoads.requests, 2u * 4096 / 128);
      EXPECT_EQ(region->counters.globalStores.requests, 4096u / 128);
    }
  }
}

/// y[i, j] = x[i + 1, j] * s[i] + v[j], of i8, f16 and f32 in one kernel.
TEST_F(SimtNest, MixesTypesAndBroadcasts) {
  auto region = compile(R"(
    func.func @f(%x: tensor<10x24xi8>, %s: tensor<9xf32>,
                 %v: tensor<24xf32>) {
      %r:2 = tw.fused @mix(%a = %x : tensor<10x24xi8>, %b = %s : tensor<9xf32>,
                           %c = %v : tensor<24xf32>) {
        %m:2 = tw.map(%i, %j) {
          %one = arith.constant 1 : index
          %k = arith.addi %i, %one : index
          %p = tw.load %a[%k, %j] : tensor<10x24xi8> -> i8
          %q = tw.load %b[%i] : tensor<9xf32> -> f32
          %o = tw.load %c[%j] : tensor<24xf32> -> f32
          %w = arith.sitofp %p : i8 to f32
          %t = arith.mulf %w, %q : f32
          %u = arith.addf %t, %o : f32
          %z = arith.constant 0.0 : f32
          %g = arith.cmpf ogt, %u, %z : f32
          tw.yield %u, %g : f32, i1
        } : tensor<9x24xf32>, tensor<9x24xi1>
        tw.yield %m#0, %m#1 : tensor<9x24xf32>, tensor<9x24xi1>
      } : tensor<9x24xf32>, tensor<9x24xi1>
      return
    })");
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, "pointwise.simt");
  Bytes x(240);
  for (int i = 0; i < 240; ++i) {
    x[i] = uint8_t(i * 7);
  }
  std::vector<Bytes> buffers = {x, floats(9, 1), floats(24, 2),
                                Bytes(9 * 24 * 4), Bytes(9 * 24)};
  EXPECT_EQ(region->run(buffers, 2), 0);
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 24; ++j) {
      float expected = float(int8_t(x[(i + 1) * 24 + j])) * at(buffers[1], i) +
                       at(buffers[2], j);
      EXPECT_EQ(at(buffers[3], i * 24 + j), expected);
      EXPECT_EQ(buffers[4][i * 24 + j], expected > 0);
    }
  }
}

/// Neighbours that do not begin at multiples of 16 bytes are taken one by one.
TEST_F(SimtNest, LeavesWhatIsNotAlignedToSingleThreads) {
  for (const char *source : {"%a[%i, %k]", "%a[%j, %i]"}) {
    auto region = compile(std::string(R"(
    func.func @f(%x: tensor<40x40xf32>) {
      %r = tw.fused @cut(%a = %x : tensor<40x40xf32>) {
        %m = tw.map(%i, %j) {
          %one = arith.constant 1 : index
          %k = arith.addi %j, %one : index
          %p = tw.load )") +
                          source +
                          R"( : tensor<40x40xf32> -> f32
          tw.yield %p : f32
        } : tensor<32x32xf32>
        tw.yield %m : tensor<32x32xf32>
      } : tensor<32x32xf32>
      return
    })");
    ASSERT_TRUE(region);
    EXPECT_NE(region->tactic, "pointwise.simt");
    std::vector<Bytes> buffers = {floats(1600, 1), Bytes(1024 * 4)};
    EXPECT_EQ(region->run(buffers, 1), 0);
    bool isCut = source[4] == 'i';
    for (int i = 0; i < 32; ++i) {
      for (int j = 0; j < 32; ++j) {
        ASSERT_EQ(at(buffers[1], i * 32 + j),
                  at(buffers[0], isCut ? i * 40 + j + 1 : j * 40 + i));
      }
    }
  }
}

/// y[n, i, j] = x[n, j, i] + v[j, i] + w[i, j]; two operands lie across the
/// results. Booleans have a byte in memory.
TEST_F(SimtNest, ReadsAcrossTheResults) {
  auto compileFor = [](const std::string &n, const std::string &m,
                       const std::string &tail) {
    auto type = [&](const std::string &dims, const std::string &element,
                    const std::string &names) {
      return "tensor<" + dims + element +
             (tail.empty() ? ">" : ", #tw.dims<[" + names + "]>>");
    };
    std::string x = type("2x" + m + "x" + n + "x", "f32", "2, M, N"),
                v = type(m + "x" + n + "x", "i1", "M, N"),
                w = type(n + "x" + m + "x", "f32", "N, M"),
                y = type("2x" + n + "x" + m + "x", "f32", "2, N, M");
    return compile("func.func @f(%x: " + x + ", %v: " + v + ", %w: " + w +
                   ") {\n%r = tw.fused @t(%a = %x : " + x + ", %b = %v : " + v +
                   ", %c = %w : " + w +
                   ") {\n%m = tw.map(%n, %i, %j) {\n"
                   "%p = tw.load %a[%n, %j, %i] : " +
                   x + " -> f32\n%q = tw.load %b[%j, %i] : " + v +
                   " -> i1\n%o = tw.load %c[%i, %j] : " + w +
                   " -> f32\n%f = arith.uitofp %q : i1 to f32\n"
                   "%s = arith.addf %p, %f : f32\n"
                   "%t = arith.addf %s, %o : f32\ntw.yield %t : f32\n} : " +
                   y + "\ntw.yield %m : " + y + "\n} : " + y + "\nreturn\n}");
  };
  auto check = [](SimtRegion &region, int64_t n, int64_t m) {
    Bytes v(m * n);
    for (int64_t i = 0; i < m * n; ++i) {
      v[i] = i * 5 % 7 > 3;
    }
    std::vector<Bytes> buffers = {floats(2 * m * n, 1), v, floats(m * n, 2),
                                  Bytes(2 * m * n * 4)};
    EXPECT_EQ(region.run(buffers, 1, {{"N", n}, {"M", m}}), 0);
    int wrong = 0;
    for (int64_t k = 0; k < 2 * n * m; ++k) {
      int64_t z = k / (n * m), i = k / m % n, j = k % m;
      float expected = at(buffers[0], (z * m + j) * n + i) + v[j * n + i] +
                       at(buffers[2], i * m + j);
      wrong += at(buffers[3], k) != expected;
    }
    EXPECT_EQ(wrong, 0) << n << "x" << m;
    EXPECT_EQ(region.counters.sharedConflicts, 0u);
  };
  auto open = compileFor("?", "?", "open");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->tactic, "transpose.simt");
  for (auto [n, m] : {std::pair(32, 64), {1, 1}, {33, 7}, {100, 31}, {0, 5}}) {
    check(*open, n, m);
  }
  auto fixed = compileFor("96", "64", "");
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->tactic, "transpose.simt");
  check(*fixed, 96, 64);
  constexpr uint64_t sectorBytes = 32;
  EXPECT_EQ(fixed->counters.globalLoads.sectors * sectorBytes,
            2u * 96 * 64 * (4 + 1 + 4));
  EXPECT_EQ(fixed->counters.globalStores.sectors * sectorBytes,
            2u * 96 * 64 * 4);
}

namespace {

struct Window {
  int64_t channels, size, kernel, stride, dilation;
  bool channelsLast, isPool;

  int64_t pad() const { return kernel / 2 * dilation; }
  int64_t out() const {
    return (size + 2 * pad() - dilation * (kernel - 1) - 1) / stride + 1;
  }
  std::string text() const;
};

std::string Window::text() const {
  auto number = [](int64_t value) { return std::to_string(value); };
  auto plane = [&](int64_t extent) {
    std::string square = number(extent) + "x" + number(extent);
    return "tensor<2x" +
           (channelsLast ? square + "x" + number(channels)
                         : number(channels) + "x" + square) +
           "xf32>";
  };
  std::string x = plane(size), y = plane(out());
  std::string w = "tensor<" + number(kernel) + "x" + number(kernel) + "x" +
                  number(channels) + "xf32>";
  std::string text = "func.func @f(%x: " + x + ", %w: " + w +
                     ") {\n%r = tw.fused @window(%a = %x : " + x +
                     ", %b = %w : " + w + ") {\n%s = tw.reduce " +
                     (isPool ? "max (" : "add (") +
                     (channelsLast ? "%n, %i, %j, %c" : "%n, %c, %i, %j") +
                     ") over (%h, %v) in <[" + number(kernel) + ", " +
                     number(kernel) + "]> {\n";
  auto constant = [&](const char *name, int64_t value) {
    text += std::string("%") + name + " = arith.constant " + number(value) +
            " : index\n";
  };
  constant("st", stride);
  constant("dl", dilation);
  constant("pd", pad());
  constant("size", size);
  text += std::string("%none = arith.constant ") +
          (isPool ? "0xFF800000" : "0.0") + " : f32\n";
  for (auto [base, offset, row, inside] :
       {std::array{"%i", "%h", "%y", "%in0"}, {"%j", "%v", "%u", "%in1"}}) {
    std::string r = row;
    text += r + "0 = arith.muli " + base + ", %st : index\n" + r +
            "1 = arith.muli " + offset + ", %dl : index\n" + r +
            "2 = arith.addi " + r + "0, " + r + "1 : index\n" + r +
            " = arith.subi " + r + "2, %pd : index\n" + inside +
            " = arith.cmpi ult, " + r + ", %size : index\n";
  }
  text += "%in = arith.andi %in0, %in1 : i1\n%q = tw.load %a[%n, " +
          std::string(channelsLast ? "%y, %u, %c" : "%c, %y, %u") +
          "] guard %in else %none : f32 : " + x + " -> f32\n";
  text += isPool ? "tw.yield %q : f32\n"
                 : "%g = tw.load %b[%h, %v, %c] : " + w +
                       " -> f32\n%t = arith.mulf %q, %g : f32\n"
                       "tw.yield %t : f32\n";
  return text + "} : " + y + "\ntw.yield %s : " + y + "\n} : " + y +
         "\nreturn\n}";
}

void check(const Window &window) {
  auto region = compile(window.text());
  ASSERT_TRUE(region);
  EXPECT_EQ(region->tactic, "window.simt");
  auto [channels, size, kernel, stride, dilation, channelsLast, isPool] =
      window;
  int64_t out = window.out(), pad = window.pad();
  std::vector<Bytes> buffers = {floats(2 * channels * size * size, 1),
                                floats(kernel * kernel * channels, 2),
                                Bytes(2 * channels * out * out * 4)};
  EXPECT_EQ(region->run(buffers, 1), 0);
  auto place = [&](int64_t n, int64_t c, int64_t i, int64_t j, int64_t extent) {
    return channelsLast ? ((n * extent + i) * extent + j) * channels + c
                        : ((n * channels + c) * extent + i) * extent + j;
  };
  int wrong = 0;
  for (int64_t number = 0; number < 2 * channels * out * out; ++number) {
    int64_t n = number / (channels * out * out),
            c = number / (out * out) % channels, i = number / out % out,
            j = number % out;
    double sum = isPool ? -INFINITY : 0;
    for (int64_t h = 0; h < kernel; ++h) {
      for (int64_t v = 0; v < kernel; ++v) {
        int64_t y = i * stride + h * dilation - pad,
                u = j * stride + v * dilation - pad;
        if (y < 0 || u < 0 || y >= size || u >= size) {
          continue;
        }
        double x = at(buffers[0], place(n, c, y, u, size));
        double w = at(buffers[1], (h * kernel + v) * channels + c);
        sum = isPool ? std::max(sum, x) : sum + x * w;
      }
    }
    double found = at(buffers[2], place(n, c, i, j, out));
    wrong += std::abs(found - sum) > 1e-3;
  }
  EXPECT_EQ(wrong, 0);
}

} // namespace

TEST_F(SimtNest, SlidesWindowsAlongChannels) {
  check({24, 9, 3, 1, 1, true, false});
  check({8, 12, 5, 2, 1, true, false});
  check({8, 12, 3, 1, 2, true, true});
  check({5, 9, 3, 2, 1, true, false}); // no vectors
}

TEST_F(SimtNest, SlidesWindowsAlongRows) {
  check({3, 12, 3, 1, 1, false, false});
  check({3, 13, 3, 2, 1, false, true});
  check({2, 12, 7, 1, 2, false, false});
}

/// Threads take several positions where that leaves enough of them.
TEST_F(SimtNest, SharesWhatPositionsHaveInCommon) {
  Window window = {64, 56, 3, 1, 1, true, false};
  auto region = compile(window.text());
  ASSERT_TRUE(region);
  auto tile = region->parameters.getAs<mlir::DenseI64ArrayAttr>("tile");
  auto width = region->parameters.getAs<mlir::IntegerAttr>("width");
  ASSERT_TRUE(tile && width);
  EXPECT_EQ(width.getInt(), 4);
  EXPECT_GT(tile[0], 1);
  check(window);
}
