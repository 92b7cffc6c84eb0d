//===- SeededWeights.cpp - weights that need not be carried along ---------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/SeededWeights.h"

#include "runtime/ModuleWriter.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace tilewright::gpucheck {

// Smaller constants may be sizes, tables or biases, and weigh little.
static constexpr uint64_t leastBytes = 64 << 10;

static std::string_view bytesOf(const ModuleFile &file,
                                const format::Segment *segment) {
  const char *data = segment ? file.segment(*segment) : nullptr;
  return data ? std::string_view(data, segment->bytes()) : std::string_view();
}

static nlohmann::json statistics(size_t constant, std::string_view bytes) {
  const auto *values = reinterpret_cast<const float *>(bytes.data());
  size_t count = bytes.size() / sizeof(float);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += values[i];
    squares += static_cast<double>(values[i]) * values[i];
  }
  double mean = sum / static_cast<double>(count);
  double variance = squares / static_cast<double>(count) - mean * mean;
  return {{"constant", constant},
          {"mean", mean},
          {"deviation", std::sqrt(std::max(variance, 0.0))}};
}

nlohmann::json describeWeights(const ModuleFile &file) {
  std::set<uint32_t> floats, others;
  const auto *variants = file.root().variants();
  for (flatbuffers::uoffset_t i = 0; variants && i < variants->size(); ++i) {
    const format::Plan *plan = variants->Get(i)->plan();
    const auto *values = plan ? plan->values() : nullptr;
    for (flatbuffers::uoffset_t v = 0; values && v < values->size(); ++v) {
      const format::Value &value = *values->Get(v);
      if (value.storage() == format::Storage_Constant) {
        bool isFloat = value.dtype() == format::DType_F32;
        (isFloat ? floats : others).insert(value.index());
      }
    }
  }
  nlohmann::json weights = nlohmann::json::array();
  const auto *constants = file.root().constants();
  for (flatbuffers::uoffset_t i = 0; constants && i < constants->size(); ++i) {
    std::string_view bytes = bytesOf(file, constants->Get(i)->data());
    if (bytes.size() < leastBytes || !floats.count(i) || others.count(i)) {
      continue;
    }
    nlohmann::json entry = statistics(i, bytes);
    // Not a mask of infinities, nor anything else that is no weight.
    if (std::isfinite(entry["mean"].get<double>()) &&
        std::isfinite(entry["deviation"].get<double>())) {
      weights.push_back(std::move(entry));
    }
  }
  return weights;
}

/// \returns numbers of a uniform distribution with that mean and deviation.
static std::string numbers(const nlohmann::json &entry, size_t bytes) {
  std::string result(bytes, '\0');
  auto *values = reinterpret_cast<float *>(result.data());
  double mean = entry["mean"].get<double>();
  double reach = std::sqrt(3.0) * entry["deviation"].get<double>();
  std::mt19937_64 generator(entry["constant"].get<uint64_t>());
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    double unit = static_cast<double>(generator() >> 11) * 0x1p-52 - 1;
    values[i] = static_cast<float>(mean + reach * unit);
  }
  return result;
}

Result<std::vector<std::byte>> replaceWeights(const ModuleFile &file,
                                              const nlohmann::json &weights,
                                              Weights kind) {
  format::ModuleT module;
  file.root().UnPackTo(&module);
  ModuleContents contents;
  contents.module = &module;
  const format::Module &root = file.root();
  for (flatbuffers::uoffset_t i = 0; i < module.constants.size(); ++i) {
    contents.constants.push_back(
        bytesOf(file, root.constants()->Get(i)->data()));
  }
  for (flatbuffers::uoffset_t i = 0; i < module.variants.size(); ++i) {
    const format::Variant &variant = *root.variants()->Get(i);
    contents.code.push_back(bytesOf(file, variant.code()));
    contents.deviceCode.emplace_back();
    const auto *kernels = variant.device_kernels();
    for (flatbuffers::uoffset_t k = 0; kernels && k < kernels->size(); ++k) {
      const format::DeviceKernel &kernel = *kernels->Get(k);
      contents.deviceCode.back().push_back({bytesOf(file, kernel.cubin()),
                                            bytesOf(file, kernel.ptx()),
                                            bytesOf(file, kernel.source())});
    }
  }
  std::vector<std::string> replaced;
  replaced.reserve(weights.size()); // the contents refer to its elements
  for (const nlohmann::json &entry : weights) {
    auto index = entry["constant"].get<size_t>();
    if (index >= contents.constants.size()) {
      return Status(ErrorCode::InputUnreadable,
                    "the weights are those of another module");
    }
    size_t bytes = contents.constants[index].size();
    replaced.push_back(kind == Weights::Zero ? std::string(bytes, '\0')
                                             : numbers(entry, bytes));
    contents.constants[index] = replaced.back();
  }
  return moduleToBytes(contents);
}

} // namespace tilewright::gpucheck
