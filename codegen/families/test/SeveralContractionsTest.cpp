//===- SeveralContractionsTest.cpp - contractions that share a tile -------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Regions of two contractions over one domain, whose sums have their own
// operands and lengths, and a map that needs both.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

#include <algorithm>

using namespace tilewright::test;

namespace {

class SeveralContractions : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, SeveralContractions,
                         testing::ValuesIn(everyVariant()), variantName);

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

/// Two matrix products and max(first, 0) * second.
struct Gated {
  std::string m, n, k, l;
  bool isTransposed = false; ///< second factors are [n, k] and [n, l]
  bool yieldsFirst = false;
  bool hasConstants = false;

  std::string weights(const std::string &length) const {
    return isTransposed ? type({n, length}) : type({length, n});
  }

  std::string product(const std::string &name, const std::string &x,
                      const std::string &w, const std::string &length) const {
    std::string result = type({m, n});
    return name + " = tw.reduce add (%i, %j) over (%k) in <[" + length +
           "]> attributes {root = \"matmul\"} {\n %p = tw.load " + x +
           "[%i, %k] : " + type({m, length}) + " -> f32\n %q = tw.load " + w +
           (isTransposed ? "[%j, %k] : " : "[%k, %j] : ") + weights(length) +
           " -> f32\n %t = arith.mulf %p, %q : f32\n tw.yield %t : f32\n } : " +
           result + "\n";
  }

  std::string text() const {
    std::string x = type({m, k}), y = type({m, l}), result = type({m, n});
    std::string w = weights(k), v = weights(l);
    std::string parameters = hasConstants ? "" : ", %w: " + w + ", %v: " + v;
    std::string constants =
        hasConstants ? "%w = tw.constant " + w + " = #tw.blob<\"00\">\n" +
                           "%v = tw.constant " + v + " = #tw.blob<\"01\">\n"
                     : "";
    std::string results = yieldsFirst ? result + ", " + result : result;
    return "func.func @f(%x: " + x + ", %y: " + y + parameters + ") {\n" +
           constants + (yieldsFirst ? "%r:2" : "%r") +
           " = tw.fused @gated(%a = %x : " + x + ", %b = %y : " + y +
           ", %c = %w : " + w + ", %d = %v : " + v + ") {\n" +
           product("%s", "%a", "%c", k) + product("%u", "%b", "%d", l) +
           "%e = tw.map(%i, %j) {\n %zero = arith.constant 0.0 : f32\n" +
           " %p = tw.load %s[%i, %j] : " + result +
           " -> f32\n %q = tw.load %u[%i, %j] : " + result +
           " -> f32\n %g = arith.maximumf %p, %zero : f32\n"
           " %t = arith.mulf %g, %q : f32\n tw.yield %t : f32\n } : " +
           result + "\n tw.yield " + (yieldsFirst ? "%s, " : "") +
           "%e : " + results + "\n } : " + results + "\n return\n}";
  }
};

struct Sizes {
  int m, n, k, l;
};

/// `weights` is [length, n], or [n, length] if transposed.
std::vector<float> productOf(const std::vector<float> &x,
                             const std::vector<float> &weights, int m, int n,
                             int length, bool isTransposed) {
  std::vector<float> result;
  for (int at = 0; at < m * n; ++at) {
    double sum = 0;
    for (int p = 0; p < length; ++p) {
      sum += double(x[at / n * length + p]) *
             weights[isTransposed ? at % n * length + p : p * n + at % n];
    }
    result.push_back(static_cast<float>(sum));
  }
  return result;
}

void check(RunnableRegion &region, const Gated &form, const Sizes &s) {
  std::vector<float> x = randomFloats(s.m * s.k, 1),
                     y = randomFloats(s.m * s.l, 2),
                     w = randomFloats(s.k * s.n, 3),
                     v = randomFloats(s.l * s.n, 4), first(s.m * s.n, -9),
                     result(s.m * s.n, -9);
  std::vector<float> expected =
                         productOf(x, w, s.m, s.n, s.k, form.isTransposed),
                     second = productOf(y, v, s.m, s.n, s.l, form.isTransposed);
  std::vector<void *> buffers = {x.data(), y.data(), w.data(), v.data()};
  if (form.yieldsFirst) {
    buffers.push_back(first.data());
  }
  buffers.push_back(result.data());
  EXPECT_EQ(
      region.run(buffers, {{"M", s.m}, {"N", s.n}, {"K", s.k}, {"L", s.l}}), 0);
  if (form.yieldsFirst) {
    expectClose(first, expected, 1e-4f);
  }
  for (int i = 0; i < s.m * s.n; ++i) {
    expected[i] = std::max(expected[i], 0.0f) * second[i];
  }
  expectClose(result, expected, 1e-4f);
}

TEST_P(SeveralContractions, ProductsOfEverySize) {
  Gated form{"M", "N", "K", "L"};
  auto region = compile(form.text());
  if (!region) {
    return;
  }
  EXPECT_EQ(region->tactic, isReference() ? "reference" : "contract.simd");
  for (int m : {1, 2, 4, 5, 13, 14, 15, 29}) {
    for (int n : {1, 7, 16, 33, 65}) {
      for (auto [k, l] : {std::pair{0, 3}, {1, 1}, {9, 20}, {20, 2}}) {
        check(*region, form, {m, n, k, l});
      }
    }
  }
}

TEST_P(SeveralContractions, ProductsOfFixedSizes) {
  for (const Sizes &s : {Sizes{29, 65, 20, 7},
                         {1, 100, 30, 64},
                         {14, 32, 8, 8},
                         {100, 3, 5, 30}}) {
    Gated form{std::to_string(s.m), std::to_string(s.n), std::to_string(s.k),
               std::to_string(s.l)};
    form.yieldsFirst = true;
    auto region = compile(form.text());
    if (!region) {
      return;
    }
    check(*region, form, s);
  }
}

TEST_P(SeveralContractions, LanesAlongTheSums) {
  for (bool isOpen : {false, true}) {
    Sizes s{19, 11, 96, 37};
    Gated form{"19", "11", isOpen ? "K" : "96", isOpen ? "L" : "37"};
    form.isTransposed = true;
    auto region = compile(form.text());
    if (!region) {
      return;
    }
    check(*region, form, s);
  }
}

TEST_P(SeveralContractions, PacksBothConstants) {
  const Sizes s{17, 161, 9, 13};
  Gated form{"17", "161", "9", "13"};
  form.hasConstants = true;
  auto region = compile(form.text());
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(s.m * s.k, 1),
                     y = randomFloats(s.m * s.l, 2),
                     w = randomFloats(s.k * s.n, 3),
                     v = randomFloats(s.l * s.n, 4), result(s.m * s.n, -9);
  std::vector<float> expected = productOf(x, w, s.m, s.n, s.k, false),
                     second = productOf(y, v, s.m, s.n, s.l, false);
  for (int i = 0; i < s.m * s.n; ++i) {
    expected[i] = std::max(expected[i], 0.0f) * second[i];
  }
  std::vector<float> packed[] = {w, v};
  if (!isReference()) {
    for (int number : {0, 1}) {
      std::vector<int64_t> dims = region->operandDims[2 + number];
      int length = number == 0 ? s.k : s.l;
      ASSERT_EQ(dims.size(), 3u);
      EXPECT_EQ(dims[1], length);
      int64_t width = dims[2];
      EXPECT_EQ(dims[0], (s.n + width - 1) / width);
      const std::vector<float> plain = packed[number];
      packed[number].assign(dims[0] * length * width, 0);
      for (int i = 0; i < length * s.n; ++i) {
        int p = i / s.n, j = i % s.n;
        packed[number][(j / width * length + p) * width + j % width] = plain[i];
      }
    }
  }
  EXPECT_EQ(region->run({x.data(), y.data(), packed[0].data(), packed[1].data(),
                         result.data()}),
            0);
  expectClose(result, expected, 1e-4f);
}

/// The last convolution of a block, 3x3 over padded channels, plus the block's
/// input, which a 1x1 convolution with stride 2 brings to the same size.
TEST_P(SeveralContractions, PaddedConvolutionPlusStridedOne) {
  const int size = 7, channels = 24, side = 2 * size, inputs = 10, outputs = 40;
  auto region = compile(R"(
    func.func @f(%x: tensor<7x7x24xf32>, %w: tensor<40x3x3x24xf32>,
                 %y: tensor<14x14x10xf32>, %v: tensor<40x10xf32>) {
      %r = tw.fused @block(%a = %x : tensor<7x7x24xf32>, %b = %w : tensor<40x3x3x24xf32>,
                           %c = %y : tensor<14x14x10xf32>, %d = %v : tensor<40x10xf32>) {
        %s = tw.reduce add (%i, %j, %m) over (%k, %h, %l) in <[24, 3, 3]>
            attributes {root = "conv"} {
          %zero = arith.constant 0.0 : f32
          %one = arith.constant 1 : index
          %n = arith.constant 7 : index
          %i1 = arith.addi %i, %h : index
          %i2 = arith.subi %i1, %one : index
          %j1 = arith.addi %j, %l : index
          %j2 = arith.subi %j1, %one : index
          %ig = arith.cmpi ult, %i2, %n : index
          %jg = arith.cmpi ult, %j2, %n : index
          %g = arith.andi %ig, %jg : i1
          %p = tw.load %a[%i2, %j2, %k] guard %g else %zero : f32 : tensor<7x7x24xf32> -> f32
          %q = tw.load %b[%m, %h, %l, %k] : tensor<40x3x3x24xf32> -> f32
          %t = arith.mulf %p, %q : f32
          tw.yield %t : f32
        } : tensor<7x7x40xf32>
        %u = tw.reduce add (%i, %j, %m) over (%k) in <[10]> attributes {root = "conv"} {
          %two = arith.constant 2 : index
          %i1 = arith.muli %i, %two : index
          %j1 = arith.muli %j, %two : index
          %p = tw.load %c[%i1, %j1, %k] : tensor<14x14x10xf32> -> f32
          %q = tw.load %d[%m, %k] : tensor<40x10xf32> -> f32
          %t = arith.mulf %p, %q : f32
          tw.yield %t : f32
        } : tensor<7x7x40xf32>
        %e = tw.map(%i, %j, %m) {
          %p = tw.load %s[%i, %j, %m] : tensor<7x7x40xf32> -> f32
          %q = tw.load %u[%i, %j, %m] : tensor<7x7x40xf32> -> f32
          %t = arith.addf %p, %q : f32
          tw.yield %t : f32
        } : tensor<7x7x40xf32>
        tw.yield %e : tensor<7x7x40xf32>
      } : tensor<7x7x40xf32>
      return
    })");
  if (!region) {
    return;
  }
  std::vector<float> x = randomFloats(size * size * channels, 1),
                     w = randomFloats(outputs * 9 * channels, 2),
                     y = randomFloats(side * side * inputs, 3),
                     v = randomFloats(outputs * inputs, 4),
                     result(size * size * outputs, -9), expected;
  for (int at = 0; at < size * size * outputs; ++at) {
    int m = at % outputs, j = at / outputs % size, i = at / outputs / size;
    double sum = 0;
    for (int tap = 0; tap < 9; ++tap) {
      int row = i + tap / 3 - 1, column = j + tap % 3 - 1;
      if (std::min(row, column) < 0 || std::max(row, column) >= size) {
        continue;
      }
      for (int c = 0; c < channels; ++c) {
        sum += double(x[(row * size + column) * channels + c]) *
               w[(m * 9 + tap) * channels + c];
      }
    }
    for (int c = 0; c < inputs; ++c) {
      sum += double(y[(2 * i * side + 2 * j) * inputs + c]) * v[m * inputs + c];
    }
    expected.push_back(static_cast<float>(sum));
  }
  EXPECT_EQ(
      region->run({x.data(), w.data(), y.data(), v.data(), result.data()}), 0);
  expectClose(result, expected, 1e-4f);
}

} // namespace
