//===- Models.cpp - compiled models in tests ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "test/e2e/Models.h"

#include "onnx/defs/parser.h"
#include "tools/support/Npy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tilewright::test {

fs::path caseModel(const std::string &id) {
  return fs::path(TILEWRIGHT_CASES) / id / "model.onnx";
}

fs::path writeModel(const std::string &text) {
  onnx::ModelProto model;
  auto status = onnx::OnnxParser::Parse(model, text.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  std::string name =
      testing::UnitTest::GetInstance()->current_test_info()->name();
  fs::path path = fs::path(testing::TempDir()) /
                  (name + std::to_string(getpid()) + ".onnx");
  std::ofstream file(path, std::ios::binary);
  EXPECT_TRUE(model.SerializeToOstream(&file));
  return path;
}

std::shared_ptr<const Module> compile(const fs::path &model,
                                      const CompileOptions &options) {
  auto compiled = compileModel(model.string(), options);
  if (!compiled) {
    ADD_FAILURE() << compiled.status().toString();
    return nullptr;
  }
  auto module = Module::fromBytes(compiled->module);
  if (!module) {
    ADD_FAILURE() << module.status().toString();
    return nullptr;
  }
  return *module;
}

Tensors readTensors(const fs::path &folder, const std::string &prefix,
                    const std::vector<Parameter> &parameters) {
  Tensors tensors;
  for (size_t i = 0; i < parameters.size(); ++i) {
    fs::path path = folder / (prefix + "_" + std::to_string(i) + ".npy");
    auto tensor = readNpy(path, parameters[i].dtype);
    if (!tensor) {
      ADD_FAILURE() << tensor.status().toString();
      return {};
    }
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Tensor randomTensor(std::vector<int64_t> shape, unsigned seed) {
  Tensor tensor = std::move(*Tensor::create(DType::F32, std::move(shape)));
  std::minstd_rand generator(seed + 1);
  std::uniform_real_distribution<float> values(-1, 1);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.as<float>()[i] = values(generator);
  }
  return tensor;
}

std::vector<TensorView> viewsOf(const Tensors &tensors) {
  std::vector<TensorView> views;
  for (const Tensor &tensor : tensors) {
    views.push_back(tensor.view());
  }
  return views;
}

Tensors run(Context &context, const Tensors &inputs) {
  auto outputs = context.run(viewsOf(inputs));
  if (!outputs) {
    ADD_FAILURE() << outputs.status().toString();
    return {};
  }
  return std::move(*outputs);
}

double largestDifference(const Tensor &a, const Tensor &b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.dtype() != DType::F32 || b.dtype() != DType::F32 ||
      a.shape() != b.shape()) {
    return infinity;
  }
  double largest = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    double x = a.as<float>()[i], y = b.as<float>()[i];
    if (std::isfinite(x) && std::isfinite(y)) {
      largest = std::max(largest, std::fabs(x - y));
    } else if (x != y && !(std::isnan(x) && std::isnan(y))) {
      return infinity;
    }
  }
  return largest;
}

bool same(const Tensors &a, const Tensors &b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    auto bytes = static_cast<size_t>(a[i].bytes());
    if (a[i].dtype() != b[i].dtype() || a[i].shape() != b[i].shape() ||
        (bytes != 0 && std::memcmp(a[i].data(), b[i].data(), bytes) != 0)) {
      return false;
    }
  }
  return true;
}

} // namespace tilewright::test
