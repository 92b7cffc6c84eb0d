//===- Expectation.cpp - what an output must be ---------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Expectation.h"

#include "tools/support/Npy.h"
#include "tools/tilewright/data/ElementValues.h"

#include <cmath>
#include <cstring>

namespace tilewright::gpucheck {

static double normOf(const TensorView &tensor) {
  double sum = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    auto value = static_cast<double>(elementAt(tensor, i));
    sum += value * value;
  }
  return std::sqrt(sum);
}

static double normOfDifference(const TensorView &a, const TensorView &b) {
  double sum = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    auto difference = static_cast<double>(elementAt(a, i) - elementAt(b, i));
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

/// \returns the elements of `tensor` at flat positions.
static Result<Tensor> gather(const TensorView &tensor, const Tensor &indices) {
  Result<Tensor> sample = Tensor::create(tensor.dtype, {indices.elements()});
  if (!sample) {
    return sample.status();
  }
  size_t size = sizeOf(tensor.dtype);
  for (int64_t i = 0; i < indices.elements(); ++i) {
    int64_t index = indices.as<int64_t>()[i];
    if (index < 0 || index >= tensor.elements()) {
      return Status(ErrorCode::InputUnreadable,
                    "a sample lies outside of the output");
    }
    std::memcpy(sample->as<char>() + static_cast<size_t>(i) * size,
                tensor.as<char>() + static_cast<size_t>(index) * size, size);
  }
  return sample;
}

static std::string describe(const Comparison &result) {
  return result.mismatch + "; " + std::to_string(result.wrong) + " of " +
         std::to_string(result.elements) + " elements are wrong";
}

/// What the norms say of a sample: values below the absolute tolerance could
/// otherwise be anything.
static std::string checkNorms(const TensorView &output, const Tensor &sample,
                              const Tensor &values, double expected,
                              const Tolerance &tolerance) {
  double wanted = normOf(values.view());
  double difference = normOfDifference(sample.view(), values.view());
  if (!(difference <= tolerance.relative * wanted)) {
    return "differs by " + std::to_string(difference) +
           " in norm, in sampled values of norm " + std::to_string(wanted);
  }
  double norm = normOf(output);
  if (!(std::abs(norm - expected) <=
        tolerance.absolute + tolerance.relative * expected)) {
    return "has the norm " + std::to_string(norm) + ", expected " +
           std::to_string(expected);
  }
  return "";
}

Result<std::string> checkOutput(const TensorView &output,
                                const nlohmann::json &expected,
                                const Tolerance &tolerance,
                                const std::filesystem::path &folder) {
  auto shape = expected["shape"].get<std::vector<int64_t>>();
  if (output.shape != ShapeRef(shape)) {
    return "has the shape " + output.shape.toString() + ", expected " +
           ShapeRef(shape).toString();
  }
  auto read = [&](const char *key, DType dtype) {
    return readNpy(folder / expected[key].get<std::string>(), dtype);
  };
  Result<Tensor> values = read("values", output.dtype);
  if (!values) {
    return values.status();
  }
  if (!expected.contains("indices")) {
    Comparison result = compare(output, values->view(), tolerance);
    return result.agrees ? std::string() : describe(result);
  }
  Result<Tensor> indices = read("indices", DType::I64);
  Result<Tensor> sample = indices ? gather(output, *indices) : indices.status();
  if (!sample) {
    return sample.status();
  }
  Comparison result = compare(sample->view(), values->view(), tolerance);
  return result.agrees ? checkNorms(output, *sample, *values,
                                    expected["norm"].get<double>(), tolerance)
                       : describe(result);
}

} // namespace tilewright::gpucheck
