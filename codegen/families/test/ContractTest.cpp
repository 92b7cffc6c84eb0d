//===- ContractTest.cpp - matrix products and convolutions run ---*- C++
//-*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {
class Contract : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, Contract, testing::ValuesIn(everyVariant()),
                         variantName);

std::string matmulText(const std::string &m, const std::string &n,
                       const std::string &k) {
  auto type = [](const std::string &a, const std::string &b) {
    auto dim = [](const std::string &s) {
      return isdigit(s[0]) ? s : std::string("?");
    };
    std::string shape = dim(a) + "x" + dim(b) + "xf32";
    bool isStatic = isdigit(a[0]) && isdigit(b[0]);
    return "tensor<" + shape +
           (isStatic ? ">" : ", #tw.dims<[" + a + ", " + b + "]>>");
  };
  std::string a = type(m, k), b = type(k, n), c = type(m, n);
  return "func.func @f(%x: " + a + ", %w: " + b +
         ") {\n  %r = tw.fused @mm(%a = %x : " + a + ", %b = %w : " + b +
         ") {\n    %s = tw.reduce add (%i, %j) over (%k) in <[" + k +
         "]> attributes {root = \"matmul\"} {\n      %p = tw.load %a[%i, %k] "
         ": " +
         a + " -> f32\n      %q = tw.load %b[%k, %j] : " + b +
         " -> f32\n      %t = arith.mulf %p, %q : f32\n      tw.yield %t : "
         "f32\n    } : " +
         c + "\n    tw.yield %s : " + c + "\n  } : " + c + "\n  return\n}";
}

void checkMatmul(RunnableRegion &region, int m, int n, int k) {
  std::vector<float> a = randomFloats(m * k, 1), b = randomFloats(k * n, 2),
                     c(m * n), e(m * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += double(a[i * k + p]) * b[p * n + j];
      }
      e[i * n + j] = sum;
    }
  }
  EXPECT_EQ(region.run({a.data(), b.data(), c.data()},
                       {{"M", m}, {"N", n}, {"K", k}}),
            0);
  expectClose(c, e, 1e-4f);
}

TEST_P(Contract, MatmulOfEverySize) {
  auto region = compile(matmulText("M", "N", "K"));
  if (!region) {
    return;
  }
  EXPECT_EQ(region->tactic, isReference() ? "reference" : "contract.simd");
  for (int m : {1, 2, 3, 4, 5, 7, 11, 13, 14, 15, 29}) {
    for (int n : {1, 7, 16, 32, 33, 65}) {
      for (int k : {0, 1, 3, 20}) {
        checkMatmul(*region, m, n, k);
      }
    }
  }
}

TEST_P(Contract, MatmulOfFixedSizes) {
  for (auto [m, n, k] : {std::array{29, 65, 20},
                         {1, 100, 30},
                         {14, 32, 8},
                         {100, 1, 30},
                         {45, 3001, 45}}) { // its panels are packed
    auto region = compile(
        matmulText(std::to_string(m), std::to_string(n), std::to_string(k)));
    if (!region) {
      return;
    }
    checkMatmul(*region, m, n, k);
  }
}

// Panels whose lanes are far apart: packing transposes them.
TEST_P(Contract, RightSideTransposed) {
  auto region = compile(R"(
    func.func @f(%x: tensor<3x?x21xf32, #tw.dims<[3, M, 21]>>, %w: tensor<3x37x21xf32>) {
      %r = tw.fused @mm(%a = %x : tensor<3x?x21xf32, #tw.dims<[3, M, 21]>>, %b = %w : tensor<3x37x21xf32>) {
        %s = tw.reduce add (%h, %i, %j) over (%k) in <[21]> {
          %p = tw.load %a[%h, %i, %k] : tensor<3x?x21xf32, #tw.dims<[3, M, 21]>> -> f32
          %q = tw.load %b[%h, %j, %k] : tensor<3x37x21xf32> -> f32
          %t = arith.mulf %p, %q : f32
          tw.yield %t : f32
        } : tensor<3x?x37xf32, #tw.dims<[3, M, 37]>>
        tw.yield %s : tensor<3x?x37xf32, #tw.dims<[3, M, 37]>>
      } : tensor<3x?x37xf32, #tw.dims<[3, M, 37]>>
      return
    })");
  if (!region) {
    return;
  }
  for (int m : {1, 4, 14, 50}) {
    std::vector<float> a = randomFloats(3 * m * 21, 1),
                       b = randomFloats(3 * 37 * 21, 2), c(3 * m * 37),
                       e(c.size());
    for (int at = 0; at < 3 * m * 37; ++at) {
      int j = at % 37, row = at / 37, h = row / m;
      for (int k = 0; k < 21; ++k) {
        e[at] += a[row * 21 + k] * b[(h * 37 + j) * 21 + k];
      }
    }
    EXPECT_EQ(region->run({a.data(), b.data(), c.data()}, {{"M", m}}), 0);
    expectClose(c, e, 1e-4f);
  }
}

TEST_P(Contract, BothOperandsContiguousAlongTheSum) {
  auto region = compile(R"(
    func.func @f(%x: tensor<2x19x32xf32>, %w: tensor<2x23x32xf32>) {
      %r = tw.fused @qk(%a = %x : tensor<2x19x32xf32>, %b = %w : tensor<2x23x32xf32>) {
        %s = tw.reduce add (%h, %i, %j) over (%k) in <[32]> {
          %p = tw.load %a[%h, %i, %k] : tensor<2x19x32xf32> -> f32
          %q = tw.load %b[%h, %j, %k] : tensor<2x23x32xf32> -> f32
          %t = arith.mulf %p, %q : f32
          tw.yield %t : f32
        } : tensor<2x19x23xf32>
        tw.yield %s : tensor<2x19x23xf32>
      } : tensor<2x19x23xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> a = randomFloats(2 * 19 * 32, 1),
                     b = randomFloats(2 * 23 * 32, 2), c(2 * 19 * 23),
                     e(c.size());
  for (int h = 0; h < 2; ++h) {
    for (int i = 0; i < 19; ++i) {
      for (int j = 0; j < 23; ++j) {
        double sum = 0;
        for (int k = 0; k < 32; ++k) {
          sum += double(a[(h * 19 + i) * 32 + k]) * b[(h * 23 + j) * 32 + k];
        }
        e[(h * 19 + i) * 23 + j] = sum;
      }
    }
  }
  EXPECT_EQ(region->run({a.data(), b.data(), c.data()}), 0);
  expectClose(c, e);
}

/// A convolution with bias, residual and ReLU; stride s, kernel k, no padding.
void checkConv(
    RegionTest &,
    const std::function<std::unique_ptr<RunnableRegion>(std::string)> &compile,
    int channels, int outputs, int size, int kernel, int stride) {
  int out = (size - kernel) / stride + 1;
  auto t = [](std::vector<int> dims) {
    std::string s = "tensor<";
    for (int d : dims) {
      s += std::to_string(d) + "x";
    }
    return s + "f32>";
  };
  std::string x = t({2, channels, size, size}),
              w = t({outputs, channels, kernel, kernel}), b = t({outputs}),
              y = t({2, outputs, out, out});
  std::string s = std::to_string(stride), k = std::to_string(kernel);
  auto region = compile(
      "func.func @f(%x: " + x + ", %w: " + w + ", %b: " + b + ", %z: " + y +
      ") {\n" + "%r = tw.fused @conv(%a = %x : " + x + ", %f = %w : " + w +
      ", %g = %b : " + b + ", %d = %z : " + y +
      ") {\n%s = tw.reduce add (%n, %m, %i, %j) over (%c, %h, %v) in <[" +
      std::to_string(channels) + ", " + k + ", " + k +
      "]> attributes {root = \"conv\"} {\n" + "%st = arith.constant " + s +
      " : index\n%i1 = arith.muli %i, %st : index\n" +
      "%i2 = arith.addi %i1, %h : index\n%j1 = arith.muli %j, %st : index\n" +
      "%j2 = arith.addi %j1, %v : index\n%p = tw.load %a[%n, %c, %i2, %j2] : " +
      x + " -> f32\n%q = tw.load %f[%m, %c, %h, %v] : " + w +
      " -> f32\n%t = arith.mulf %p, %q : f32\ntw.yield %t : f32\n} : " + y +
      "\n%u = tw.map(%n, %m, %i, %j) {\n%p = tw.load %s[%n, %m, %i, %j] : " +
      y + " -> f32\n%q = tw.load %g[%m] : " + b +
      " -> f32\n%o = tw.load %d[%n, %m, %i, %j] : " + y +
      " -> f32\n%t = arith.addf %p, %q : f32\n%l = arith.addf %t, %o : f32\n" +
      "%zero = arith.constant 0.0 : f32\n%e = arith.maximumf %l, %zero : "
      "f32\ntw.yield %e : f32\n} : " +
      y + "\ntw.yield %u : " + y + "\n} : " + y + "\nreturn\n}");
  if (!region) {
    return;
  }
  std::vector<float> in = randomFloats(2 * channels * size * size, 1),
                     weights =
                         randomFloats(outputs * channels * kernel * kernel, 2),
                     bias = randomFloats(outputs, 3),
                     residual = randomFloats(2 * outputs * out * out, 4),
                     result(residual.size()), expected(residual.size());
  for (int n = 0; n < 2; ++n) {
    for (int m = 0; m < outputs; ++m) {
      for (int i = 0; i < out; ++i) {
        for (int j = 0; j < out; ++j) {
          double sum = 0;
          for (int c = 0; c < channels; ++c) {
            for (int h = 0; h < kernel; ++h) {
              for (int v = 0; v < kernel; ++v) {
                sum +=
                    double(
                        in[((n * channels + c) * size + i * stride + h) * size +
                           j * stride + v]) *
                    weights[((m * channels + c) * kernel + h) * kernel + v];
              }
            }
          }
          int at = ((n * outputs + m) * out + i) * out + j;
          expected[at] = std::max(0.0, sum + bias[m] + residual[at]);
        }
      }
    }
  }
  EXPECT_EQ(region->run({in.data(), weights.data(), bias.data(),
                         residual.data(), result.data()}),
            0);
  expectClose(result, expected, 1e-4f);
}

TEST_P(Contract, ConvolutionsWithEpilogue) {
  auto build = [&](const std::string &text) { return compile(text); };
  checkConv(*this, build, 3, 20, 11, 3, 1);
  checkConv(*this, build, 4, 40, 9, 1, 1);
  checkConv(*this, build, 3, 18, 13, 3, 2);
}

TEST_P(Contract, PacksConstantWeights) {
  // More columns than any vector has lanes, and not a multiple of them.
  const int m = 17, n = 161, k = 9;
  std::string text =
      matmulText(std::to_string(m), std::to_string(n), std::to_string(k));
  std::string weights =
      "tensor<" + std::to_string(k) + "x" + std::to_string(n) + "xf32>";
  size_t parameter = text.find(", %w: " + weights);
  text.erase(parameter, 6 + weights.size());
  text.insert(text.find("\n") + 1,
              "  %w = tw.constant " + weights + " = #tw.blob<\"00\">\n");
  auto region = compile(text);
  if (!region) {
    return;
  }
  std::vector<float> a = randomFloats(m * k, 1), b = randomFloats(k * n, 2),
                     c(m * n), e(m * n);
  for (int i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int p = 0; p < k; ++p) {
      sum += double(a[i / n * k + p]) * b[p * n + i % n];
    }
    e[i] = sum;
  }
  std::vector<int64_t> dims = region->operandDims[1];
  std::vector<float> packed = b;
  if (!isReference()) {
    ASSERT_EQ(dims.size(), 3u);
    EXPECT_EQ(dims[1], k);
    int64_t width = dims[2];
    EXPECT_EQ(dims[0], (n + width - 1) / width);
    packed.assign(dims[0] * k * width, 0);
    for (int p = 0; p < k; ++p) {
      for (int j = 0; j < n; ++j) {
        packed[(j / width * k + p) * width + j % width] = b[p * n + j];
      }
    }
  }
  EXPECT_EQ(region->run({a.data(), packed.data(), c.data()}), 0);
  expectClose(c, e);
}

// The epilogue sees the channels [group, M / group] as one axis.
TEST_P(Contract, DepthwiseThroughAReshape) {
  auto region = compile(R"(
    func.func @f(%x: tensor<1x6x9x9xf32>, %w: tensor<6x1x3x3xf32>, %b: tensor<6xf32>) {
      %r = tw.fused @dw(%a = %x : tensor<1x6x9x9xf32>, %f = %w : tensor<6x1x3x3xf32>,
                        %g = %b : tensor<6xf32>) {
        %s = tw.reduce add (%n, %c, %m, %i, %j) over (%z, %h, %v) in <[1, 3, 3]>
            attributes {root = "depthwise"} {
          %ch = arith.addi %c, %z : index
          %oc = arith.addi %c, %m : index
          %i2 = arith.addi %i, %h : index
          %j2 = arith.addi %j, %v : index
          %p = tw.load %a[%n, %ch, %i2, %j2] : tensor<1x6x9x9xf32> -> f32
          %q = tw.load %f[%oc, %z, %h, %v] : tensor<6x1x3x3xf32> -> f32
          %t = arith.mulf %p, %q : f32
          tw.yield %t : f32
        } : tensor<1x6x1x7x7xf32>
        %e = tw.reshape %s : tensor<1x6x1x7x7xf32> -> tensor<1x6x7x7xf32>
        %u = tw.map(%n, %m, %i, %j) {
          %p = tw.load %e[%n, %m, %i, %j] : tensor<1x6x7x7xf32> -> f32
          %q = tw.load %g[%m] : tensor<6xf32> -> f32
          %t = arith.addf %p, %q : f32
          tw.yield %t : f32
        } : tensor<1x6x7x7xf32>
        tw.yield %u : tensor<1x6x7x7xf32>
      } : tensor<1x6x7x7xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(486, 1), w = randomFloats(54, 2),
                     b = randomFloats(6, 3), y(294), e(294);
  for (int c = 0; c < 6; ++c) {
    for (int i = 0; i < 7; ++i) {
      for (int j = 0; j < 7; ++j) {
        double sum = b[c];
        for (int h = 0; h < 3; ++h) {
          for (int v = 0; v < 3; ++v) {
            sum +=
                double(x[(c * 9 + i + h) * 9 + j + v]) * w[(c * 3 + h) * 3 + v];
          }
        }
        e[(c * 7 + i) * 7 + j] = sum;
      }
    }
  }
  EXPECT_EQ(region->run({x.data(), w.data(), b.data(), y.data()}), 0);
  expectClose(y, e);
}
} // namespace
