//===- RowBlocksTest.cpp - norms and softmax behind projections -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// y = norm(x · w + r) over the last axis, and softmax(x · w). Sizes are chosen
// so that blocks, tiles and lanes all leave a rest.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

#include <algorithm>

using namespace tilewright::test;

namespace {

class RowBlocks : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, RowBlocks, testing::ValuesIn(everyVariant()),
                         variantName);

/// The tensor type of `dims`; names are symbols.
std::string type(const std::vector<std::string> &dims) {
  std::string shape, symbols;
  bool isOpen = false;
  for (const std::string &dim : dims) {
    bool isSymbol = !isdigit(dim[0]);
    isOpen |= isSymbol;
    shape += (isSymbol ? "?" : dim) + "x";
    symbols += (symbols.empty() ? "" : ", ") + dim;
  }
  return "tensor<" + shape + "f32" +
         (isOpen ? ", #tw.dims<[" + symbols + "]>>" : ">");
}

struct Sizes {
  int b, m, n, k;
};

/// The region of a layer norm without parameters behind a projection with a
/// residual. The sum before the norm is a result, too, if `yieldsSum`.
std::string normText(const std::string &batch, const std::string &m,
                     const std::string &n, const std::string &k, bool yieldsSum,
                     bool isConstant) {
  std::string x = type({batch, m, k}), w = type({k, n}),
              r = type({batch, m, n}), row = type({batch, m});
  std::string load = "tw.load %u[%b, %i, %j] : " + r + " -> f32\n";
  std::string results = yieldsSum ? r + ", " + r : r;
  return "func.func @f(%x: " + x + (isConstant ? "" : ", %w: " + w) +
         ", %r: " + r + ") {\n" +
         (isConstant ? "%w = tw.constant " + w + " = #tw.blob<\"00\">\n" : "") +
         "%y" + (yieldsSum ? ":2" : "") + " = tw.fused @norm(%a = %x : " + x +
         ", %c = %w : " + w + ", %d = %r : " + r +
         ") attributes {rows = 2 : i64} {\n" +
         "%s = tw.reduce add (%b, %i, %j) over (%k) in <[" + k +
         "]> attributes {root = \"matmul\"} {\n %p = tw.load %a[%b, %i, %k] "
         ": " +
         x + " -> f32\n %q = tw.load %c[%k, %j] : " + w +
         " -> f32\n %t = arith.mulf %p, %q : f32\n tw.yield %t : f32\n} : " +
         r +
         "\n%u = tw.map(%b, %i, %j) {\n %p = tw.load %s[%b, %i, %j] : " + r +
         " -> f32\n %q = tw.load %d[%b, %i, %j] : " + r +
         " -> f32\n %t = arith.addf %p, %q : f32\n tw.yield %t : f32\n} : " +
         r + "\n%m = tw.reduce add (%b, %i) over (%j) in <[" + n +
         "]> {\n %p = " + load + " tw.yield %p : f32\n} : " + row +
         "\n%mean = tw.map(%b, %i) {\n %p = tw.load %m[%b, %i] : " + row +
         " -> f32\n %n = tw.size <" + n +
         ">\n %n1 = arith.index_cast %n : index to i64\n"
         " %n2 = arith.sitofp %n1 : i64 to f32\n"
         " %t = arith.divf %p, %n2 : f32\n tw.yield %t : f32\n} : " +
         row + "\n%v = tw.reduce add (%b, %i) over (%j) in <[" + n +
         "]> {\n %p = " + load + " %q = tw.load %mean[%b, %i] : " + row +
         " -> f32\n %d0 = arith.subf %p, %q : f32\n"
         " %t = arith.mulf %d0, %d0 : f32\n tw.yield %t : f32\n} : " +
         row + "\n%z = tw.map(%b, %i, %j) {\n %p = " + load +
         " %q = tw.load %mean[%b, %i] : " + row +
         " -> f32\n %o = tw.load %v[%b, %i] : " + row +
         " -> f32\n %one = arith.constant 1.0 : f32\n"
         " %e = arith.addf %o, %one : f32\n %f = math.sqrt %e : f32\n"
         " %d0 = arith.subf %p, %q : f32\n"
         " %t = arith.divf %d0, %f : f32\n tw.yield %t : f32\n} : " +
         r + "\ntw.yield " + (yieldsSum ? "%u, %z : " : "%z : ") + results +
         "\n} : " + results + "\nreturn\n}";
}

/// What the region gives: the sums, and the same normalised.
std::pair<std::vector<float>, std::vector<float>>
expectedNorm(const std::vector<float> &x, const std::vector<float> &w,
             const std::vector<float> &r, const Sizes &s) {
  std::vector<float> sums(r.size()), result(r.size());
  for (int row = 0; row < s.b * s.m; ++row) {
    double mean = 0, variance = 0;
    for (int j = 0; j < s.n; ++j) {
      double sum = r[row * s.n + j];
      for (int p = 0; p < s.k; ++p) {
        sum += double(x[row * s.k + p]) * w[p * s.n + j];
      }
      sums[row * s.n + j] = static_cast<float>(sum);
      mean += sum / s.n;
    }
    for (int j = 0; j < s.n; ++j) {
      variance += std::pow(sums[row * s.n + j] - mean, 2);
    }
    for (int j = 0; j < s.n; ++j) {
      result[row * s.n + j] = static_cast<float>((sums[row * s.n + j] - mean) /
                                                 std::sqrt(variance + 1));
    }
  }
  return {sums, result};
}

void checkNorm(RunnableRegion &region, const Sizes &s, bool yieldsSum,
               int64_t packedWidth = 0) {
  std::vector<float> x = randomFloats(s.b * s.m * s.k, 1),
                     w = randomFloats(s.k * s.n, 2),
                     r = randomFloats(s.b * s.m * s.n, 3), sums(r.size(), -9),
                     y(r.size(), -9);
  auto [expectedSums, expected] = expectedNorm(x, w, r, s);
  if (packedWidth) {
    std::vector<float> plain = w;
    int64_t panels = (s.n + packedWidth - 1) / packedWidth;
    w.assign(panels * s.k * packedWidth, 0);
    for (int i = 0; i < s.k * s.n; ++i) {
      int p = i / s.n, j = i % s.n;
      w[(j / packedWidth * s.k + p) * packedWidth + j % packedWidth] = plain[i];
    }
  }
  // A packed constant is the last operand.
  std::vector<void *> buffers = {x.data(), packedWidth ? r.data() : w.data(),
                                 packedWidth ? w.data() : r.data()};
  if (yieldsSum) {
    buffers.push_back(sums.data());
  }
  buffers.push_back(y.data());
  EXPECT_EQ(
      region.run(buffers, {{"B", s.b}, {"M", s.m}, {"N", s.n}, {"K", s.k}}), 0);
  expectClose(y, expected, 1e-4f);
  if (yieldsSum) {
    expectClose(sums, expectedSums, 1e-4f);
  }
}

TEST_P(RowBlocks, NormOfEverySize) {
  for (bool yieldsSum : {false, true}) {
    auto region = compile(normText("B", "M", "N", "K", yieldsSum, false));
    if (!region) {
      return;
    }
    EXPECT_EQ(region->tactic, isReference() ? "reference" : "contract.rows");
    for (auto [b, m] : {std::pair{1, 1}, {2, 5}, {1, 14}, {3, 31}, {1, 77}}) {
      for (int n : {1, 7, 33, 64}) {
        for (int k : {0, 1, 19}) {
          checkNorm(*region, {b, m, n, k}, yieldsSum);
        }
      }
    }
  }
}

TEST_P(RowBlocks, NormOfFixedSizes) {
  for (const Sizes &s : {Sizes{1, 29, 65, 20},
                         {4, 7, 16, 3},
                         {1, 1, 40, 8},
                         {2, 300, 24, 5},
                         {3, 1, 17, 9}}) {
    for (bool yieldsSum : {false, true}) {
      auto region = compile(normText(std::to_string(s.b), std::to_string(s.m),
                                     std::to_string(s.n), std::to_string(s.k),
                                     yieldsSum, false));
      if (!region) {
        return;
      }
      checkNorm(*region, s, yieldsSum);
    }
  }
}

TEST_P(RowBlocks, PacksTheWeights) {
  const Sizes s{1, 45, 161, 9};
  auto region = compile(normText("1", "45", "161", "9", false, true));
  if (!region) {
    return;
  }
  int64_t width = 0;
  if (!isReference()) {
    ASSERT_EQ(region->operandDims[2].size(), 3u);
    width = region->operandDims[2][2];
  }
  checkNorm(*region, s, false, width);
}

/// Lanes along the sum, and rows of a few elements: scores of 5 classes.
TEST_P(RowBlocks, SoftmaxBehindDotProducts) {
  const int m = 61, n = 5, k = 96;
  auto region = compile(R"(
    func.func @f(%x: tensor<61x96xf32>, %w: tensor<5x96xf32>) {
      %y = tw.fused @scores(%a = %x : tensor<61x96xf32>, %c = %w : tensor<5x96xf32>)
          attributes {rows = 1 : i64} {
        %s = tw.reduce add (%i, %j) over (%k) in <[96]> attributes {root = "matmul"} {
          %p = tw.load %a[%i, %k] : tensor<61x96xf32> -> f32
          %q = tw.load %c[%j, %k] : tensor<5x96xf32> -> f32
          %t = arith.mulf %p, %q : f32
          tw.yield %t : f32
        } : tensor<61x5xf32>
        %m = tw.reduce max (%i) over (%j) in <[5]> {
          %p = tw.load %s[%i, %j] : tensor<61x5xf32> -> f32
          tw.yield %p : f32
        } : tensor<61xf32>
        %e = tw.map(%i, %j) {
          %p = tw.load %s[%i, %j] : tensor<61x5xf32> -> f32
          %q = tw.load %m[%i] : tensor<61xf32> -> f32
          %t = arith.subf %p, %q : f32
          %o = math.exp %t : f32
          tw.yield %o : f32
        } : tensor<61x5xf32>
        %d = tw.reduce add (%i) over (%j) in <[5]> {
          %p = tw.load %e[%i, %j] : tensor<61x5xf32> -> f32
          tw.yield %p : f32
        } : tensor<61xf32>
        %z = tw.map(%i, %j) {
          %p = tw.load %e[%i, %j] : tensor<61x5xf32> -> f32
          %q = tw.load %d[%i] : tensor<61xf32> -> f32
          %t = arith.divf %p, %q : f32
          tw.yield %t : f32
        } : tensor<61x5xf32>
        tw.yield %z : tensor<61x5xf32>
      } : tensor<61x5xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(m * k, 1), w = randomFloats(n * k, 2),
                     y(m * n, -9), expected;
  for (int i = 0; i < m; ++i) {
    std::vector<double> row;
    double total = 0;
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += double(x[i * k + p]) * w[j * k + p];
      }
      row.push_back(std::exp(sum));
      total += row.back();
    }
    for (double value : row) {
      expected.push_back(static_cast<float>(value / total));
    }
  }
  EXPECT_EQ(region->run({x.data(), w.data(), y.data()}), 0);
  expectClose(y, expected, 1e-4f);
}

/// Padding before the rows: a 3x3 convolution, then the channels' maximum is
/// taken from each.
TEST_P(RowBlocks, MaximumBehindPaddedConvolution) {
  const int size = 9, channels = 20, outputs = 35;
  auto region = compile(R"(
    func.func @f(%x: tensor<9x9x20xf32>, %w: tensor<35x3x3x20xf32>) {
      %r = tw.fused @conv(%a = %x : tensor<9x9x20xf32>, %b = %w : tensor<35x3x3x20xf32>)
          attributes {rows = 2 : i64} {
        %s = tw.reduce add (%i, %j, %m) over (%k, %h, %l) in <[20, 3, 3]>
            attributes {root = "conv"} {
          %zero = arith.constant 0.0 : f32
          %one = arith.constant 1 : index
          %n = arith.constant 9 : index
          %i1 = arith.addi %i, %h : index
          %i2 = arith.subi %i1, %one : index
          %j1 = arith.addi %j, %l : index
          %j2 = arith.subi %j1, %one : index
          %ig = arith.cmpi ult, %i2, %n : index
          %jg = arith.cmpi ult, %j2, %n : index
          %g = arith.andi %ig, %jg : i1
          %p = tw.load %a[%i2, %j2, %k] guard %g else %zero : f32 : tensor<9x9x20xf32> -> f32
          %q = tw.load %b[%m, %h, %l, %k] : tensor<35x3x3x20xf32> -> f32
          %t = arith.mulf %p, %q : f32
          tw.yield %t : f32
        } : tensor<9x9x35xf32>
        %u = tw.reduce max (%i, %j) over (%m) in <[35]> {
          %p = tw.load %s[%i, %j, %m] : tensor<9x9x35xf32> -> f32
          tw.yield %p : f32
        } : tensor<9x9xf32>
        %e = tw.map(%i, %j, %m) {
          %p = tw.load %s[%i, %j, %m] : tensor<9x9x35xf32> -> f32
          %q = tw.load %u[%i, %j] : tensor<9x9xf32> -> f32
          %t = arith.subf %p, %q : f32
          tw.yield %t : f32
        } : tensor<9x9x35xf32>
        tw.yield %e : tensor<9x9x35xf32>
      } : tensor<9x9x35xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(size * size * channels, 1),
                     w = randomFloats(outputs * 9 * channels, 2),
                     y(size * size * outputs, -9), expected(y.size());
  for (int pixel = 0; pixel < size * size; ++pixel) {
    float *row = &expected[pixel * outputs];
    for (int m = 0; m < outputs; ++m) {
      double sum = 0;
      for (int tap = 0; tap < 9; ++tap) {
        int i = pixel / size + tap / 3 - 1, j = pixel % size + tap % 3 - 1;
        bool isInside = i >= 0 && j >= 0 && i < size && j < size;
        for (int c = 0; isInside && c < channels; ++c) {
          sum += double(x[(i * size + j) * channels + c]) *
                 w[(m * 9 + tap) * channels + c];
        }
      }
      row[m] = static_cast<float>(sum);
    }
    float greatest = *std::max_element(row, row + outputs);
    std::for_each(row, row + outputs, [&](float &e) { e -= greatest; });
  }
  EXPECT_EQ(region->run({x.data(), w.data(), y.data()}), 0);
  expectClose(y, expected, 1e-4f);
}

} // namespace
