//===- Matrix.cpp - products of matrices and their reference --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Matrix.h"

#include "tools/tilewright/data/ElementValues.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace tilewright::gpucheck {

static constexpr int checkedElements = 64;

Result<MatrixProduct> MatrixProduct::parse(const nlohmann::json &entry) {
  static constexpr std::pair<const char *, DType> types[] = {
      {"f32", DType::F32},   {"tf32", DType::F32}, {"f16", DType::F16},
      {"bf16", DType::BF16}, {"s8", DType::I8},    {"e4m3", DType::F8E4M3FN}};
  MatrixProduct product;
  std::string type = entry.value("type", ""),
              layout = entry.value("layout", "nn");
  auto found = std::find_if(std::begin(types), std::end(types),
                            [&](const auto &t) { return type == t.first; });
  product.m = entry.value("m", int64_t(0));
  product.n = entry.value("n", int64_t(0));
  product.k = entry.value("k", int64_t(0));
  if (found == std::end(types) || product.m < 1 || product.n < 1 ||
      product.k < 1 || (layout != "nn" && layout != "nt")) {
    return Status(ErrorCode::OptionInvalid,
                  "no product of matrices is described by " + entry.dump());
  }
  product.operand = found->second;
  product.tf32 = type == "tf32";
  product.transposedB = layout == "nt";
  return product;
}

Result<Tensor> seeded(DType type, std::vector<int64_t> shape, uint64_t seed) {
  Result<Tensor> tensor = Tensor::create(type, std::move(shape));
  if (!tensor) {
    return tensor.status();
  }
  // A prime number of values, repeated: rows and columns never line up.
  constexpr int64_t period = 65521;
  std::mt19937_64 generator(seed);
  TensorView view = tensor->view();
  int64_t count = view.elements(), first = std::min(count, period);
  for (int64_t i = 0; i < first; ++i) {
    double value = static_cast<double>(generator() >> 11) * 0x1p-52 - 1;
    setElement(view, i, type == DType::I8 ? std::floor(value * 128) : value);
  }
  auto size = static_cast<int64_t>(sizeOf(type));
  char *data = view.as<char>();
  for (int64_t done = first; done < count; done += period) {
    std::memcpy(data + done * size, data,
                static_cast<size_t>(std::min(period, count - done) * size));
  }
  return tensor;
}

/// \returns how far a sum may be off: `total` is that of the products'
/// magnitudes.
static double boundOf(const MatrixProduct &product, double sum, double total) {
  switch (product.operand) {
  case DType::F16:
    return 1e-5 * total + 0x1p-10 * std::abs(sum);
  case DType::BF16:
    return 1e-5 * total + 0x1p-7 * std::abs(sum);
  case DType::I8:
    return 0;
  case DType::F8E4M3FN: // matrix units keep few bits of such sums
    return 2e-3 * total;
  default:
    return (product.tf32 ? 1e-3 : 1e-5) * total;
  }
}

static double finish(const FusedEpilogue &epilogue, double sum, int64_t i,
                     int64_t j, int64_t n) {
  auto at = [](const TensorView *view, int64_t position) {
    return view ? static_cast<double>(elementAt(*view, position)) : 0;
  };
  double x = sum + at(epilogue.bias, j) + at(epilogue.residual, i * n + j);
  switch (epilogue.activation) {
  case FusedEpilogue::Relu:
    return std::max(x, 0.0);
  case FusedEpilogue::Gelu: // by tanh
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case FusedEpilogue::None:
    break;
  }
  return x;
}

std::string checkProduct(const MatrixProduct &product, const TensorView &a,
                         const TensorView &b, const TensorView &c,
                         const FusedEpilogue &epilogue) {
  std::mt19937_64 generator(1);
  auto draw = [&](int64_t below) {
    return static_cast<int64_t>(generator() % static_cast<uint64_t>(below));
  };
  for (int element = 0; element < checkedElements; ++element) {
    // The corners first: what lies at the end of a tile goes wrong most easily.
    int64_t i = element < 4 ? (element & 1) * (product.m - 1) : draw(product.m);
    int64_t j =
        element < 4 ? (element >> 1) * (product.n - 1) : draw(product.n);
    double sum = 0, total = 0;
    for (int64_t r = 0; r < product.k; ++r) {
      int64_t position =
          product.transposedB ? j * product.k + r : r * product.n + j;
      auto term = static_cast<double>(elementAt(a, i * product.k + r) *
                                      elementAt(b, position));
      sum += term;
      total += std::abs(term);
    }
    auto actual = static_cast<double>(elementAt(c, i * product.n + j));
    double expected = finish(epilogue, sum, i, j, product.n);
    // GELU is steeper than one here and there.
    constexpr double steepest = 1.2;
    double bound = steepest * boundOf(product, sum, total) +
                   (expected != sum ? boundOf(product, expected, 0) : 0);
    if (!(std::abs(actual - expected) <= bound)) {
      return "element [" + std::to_string(i) + ", " + std::to_string(j) +
             "] is " + std::to_string(actual) + ", expected " +
             std::to_string(expected);
    }
  }
  return "";
}

} // namespace tilewright::gpucheck
