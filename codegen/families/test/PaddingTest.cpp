//===- PaddingTest.cpp - convolutions that read beyond their input --------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Channels-last convolutions whose loads have guards. Few channels make the
// inner loops short, so that a tile is decided as a whole; many make them long,
// so that a run of padding stands in for what is outside.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

#include <algorithm>

using namespace tilewright::test;

namespace {

class Padding : public RegionTest {};
INSTANTIATE_TEST_SUITE_P(Families, Padding, testing::ValuesIn(everyVariant()),
                         variantName);

struct Shape {
  int size;     // of the square image
  int channels; // of the input
  int outputs;  // 0: a depthwise convolution
  int kernel, stride, pad;

  int out() const { return (size + 2 * pad - kernel) / stride + 1; }
  int results() const { return outputs ? outputs : channels; }
};

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

/// The region: y = conv(x, w) + bias. Sizes are symbols S (of the input) and T
/// (of the result) when `isOpen`.
std::string textOf(const Shape &shape, bool isOpen) {
  auto number = [](int value) { return std::to_string(value); };
  std::string size = isOpen ? "S" : number(shape.size),
              out = isOpen ? "T" : number(shape.out());
  bool isDepthwise = shape.outputs == 0;
  std::string m = number(shape.results()), c = number(shape.channels),
              k = number(shape.kernel);
  std::string x = type({size, size, c}), y = type({out, out, m}),
              w = isDepthwise ? type({m, k, k}) : type({m, k, k, c}),
              b = type({m});
  std::string axes = isDepthwise ? "%h, %v" : "%c, %h, %v",
              extents = isDepthwise ? k + ", " + k : c + ", " + k + ", " + k,
              channel = isDepthwise ? "%m" : "%c",
              weight = isDepthwise ? "%m, %h, %v" : "%m, %h, %v, %c",
              bound = isOpen ? "tw.size <S>"
                             : "arith.constant " + size + " : index";
  return "func.func @f(%x: " + x + ", %w: " + w + ", %b: " + b +
         ") {\n %r = tw.fused @conv(%a = %x : " + x + ", %f = %w : " + w +
         ", %g = %b : " + b + ") {\n %s = tw.reduce add (%i, %j, %m) over (" +
         axes + ") in <[" + extents + "]> attributes {root = \"conv\"} {\n" +
         " %zero = arith.constant 0.0 : f32\n %st = arith.constant " +
         number(shape.stride) + " : index\n %pad = arith.constant " +
         number(shape.pad) + " : index\n %n = " + bound +
         "\n %i1 = arith.muli %i, %st : index\n" +
         " %i2 = arith.addi %i1, %h : index\n" +
         " %i3 = arith.subi %i2, %pad : index\n" +
         " %j1 = arith.muli %j, %st : index\n" +
         " %j2 = arith.addi %j1, %v : index\n" +
         " %j3 = arith.subi %j2, %pad : index\n" +
         " %ig = arith.cmpi ult, %i3, %n : index\n" +
         " %jg = arith.cmpi ult, %j3, %n : index\n" +
         " %guard = arith.andi %ig, %jg : i1\n %p = tw.load %a[%i3, %j3, " +
         channel + "] guard %guard else %zero : f32 : " + x +
         " -> f32\n %q = tw.load %f[" + weight + "] : " + w +
         " -> f32\n %t = arith.mulf %p, %q : f32\n tw.yield %t : f32\n } : " +
         y +
         "\n %u = tw.map(%i, %j, %m) {\n %p = tw.load %s[%i, %j, %m] : " + y +
         " -> f32\n %q = tw.load %g[%m] : " + b +
         " -> f32\n %t = arith.addf %p, %q : f32\n tw.yield %t : f32\n } : " +
         y + "\n tw.yield %u : " + y + "\n } : " + y + "\n return\n}";
}

std::vector<float> expectedOf(const Shape &shape, const std::vector<float> &x,
                              const std::vector<float> &w,
                              const std::vector<float> &bias) {
  int out = shape.out(), k = shape.kernel, channels = shape.channels;
  std::vector<float> y;
  for (int at = 0; at < out * out * shape.results(); ++at) {
    int m = at % shape.results(), j = at / shape.results() % out,
        i = at / shape.results() / out;
    double sum = 0;
    for (int tap = 0; tap < k * k; ++tap) {
      int row = i * shape.stride + tap / k - shape.pad,
          column = j * shape.stride + tap % k - shape.pad;
      if (std::min(row, column) < 0 || std::max(row, column) >= shape.size) {
        continue;
      }
      const float *pixel = &x[(row * shape.size + column) * channels];
      for (int c = 0; c < (shape.outputs ? channels : 1); ++c) {
        sum += shape.outputs
                   ? double(pixel[c]) * w[(m * k * k + tap) * channels + c]
                   : double(pixel[m]) * w[m * k * k + tap];
      }
    }
    y.push_back(static_cast<float>(sum + bias[m]));
  }
  return y;
}

void check(RunnableRegion &region, const Shape &shape) {
  int taps = shape.kernel * shape.kernel;
  std::vector<float> x = randomFloats(shape.size * shape.size * shape.channels,
                                      1),
                     w = randomFloats(shape.results() * taps *
                                          (shape.outputs ? shape.channels : 1),
                                      2),
                     bias = randomFloats(shape.results(), 3),
                     y(shape.out() * shape.out() * shape.results(), -9);
  EXPECT_EQ(region.run({x.data(), w.data(), bias.data(), y.data()},
                       {{"S", shape.size}, {"T", shape.out()}}),
            0);
  expectClose(y, expectedOf(shape, x, w, bias), 1e-4f);
}

TEST_P(Padding, FixedSizes) {
  const Shape shapes[] = {
      {9, 32, 40, 3, 1, 1}, {9, 3, 40, 3, 1, 1},  {15, 20, 17, 5, 2, 2},
      {4, 18, 33, 7, 1, 3}, {16, 48, 0, 3, 1, 1}, {11, 17, 0, 5, 2, 2},
      {3, 33, 64, 3, 1, 4}, {2, 40, 0, 5, 1, 2},  {17, 48, 0, 7, 1, 3}};
  for (const Shape &shape : shapes) {
    if (auto region = compile(textOf(shape, /*isOpen=*/false))) {
      check(*region, shape);
    }
  }
}

TEST_P(Padding, OpenSizes) {
  for (Shape shape : {Shape{0, 32, 40, 3, 1, 1}, Shape{0, 3, 40, 3, 2, 1},
                      Shape{0, 40, 0, 3, 1, 1}}) {
    auto region = compile(textOf(shape, /*isOpen=*/true));
    for (int size : {1, 2, 7, 13, 14, 30}) {
      shape.size = size;
      if (region) {
        check(*region, shape);
      }
    }
  }
}

} // namespace
