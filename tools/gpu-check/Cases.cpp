//===- Cases.cpp - modules with known results -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Cases.h"

#include "tools/gpu-check/Expectation.h"
#include "tools/gpu-check/SeededWeights.h"
#include "tools/support/Npy.h"
#include "tools/tilewright/bench-runner/KernelTimes.h"

#include <algorithm>
#include <chrono>

namespace tilewright::gpucheck {

using Clock = std::chrono::steady_clock;

// The first run learns how much memory there is, the second is recorded.
static constexpr int checkedRuns = 3;
static constexpr double measuredMilliseconds = 500;
static constexpr int fewestRuns = 5, mostRuns = 200;
static constexpr unsigned timedRuns = 5;

/// Opens the module of a case, with weights where it comes without.
static Result<std::shared_ptr<const Module>>
openModule(const Session &session, const nlohmann::json &entry,
           const std::string &path) {
  if (!entry.contains("seeded")) {
    return Module::open(path, session.options);
  }
  Result<ModuleFile> file = ModuleFile::open(path, /*threads=*/0);
  if (!file) {
    return file.status();
  }
  Result<std::vector<std::byte>> bytes =
      replaceWeights(*file, entry["seeded"], Weights::Seeded);
  return bytes ? Module::fromBytes(*bytes, session.options) : bytes.status();
}

static Result<std::vector<Tensor>>
readInputs(const Module &module, const nlohmann::json &files,
           const std::filesystem::path &folder) {
  std::vector<Tensor> inputs;
  if (files.size() != module.inputs().size()) {
    return Status(ErrorCode::InputName,
                  "the case has " + std::to_string(files.size()) +
                      " inputs for " + std::to_string(module.inputs().size()));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    Result<Tensor> input =
        readNpy(folder / files[i].get<std::string>(), module.inputs()[i].dtype);
    if (!input) {
      return input.status();
    }
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

/// \returns what is wrong with any output.
static Result<std::string> check(const std::vector<Tensor> &outputs,
                                 const nlohmann::json &entry,
                                 const std::filesystem::path &folder) {
  Tolerance tolerance;
  tolerance.relative = entry["tolerance"][0].get<double>();
  tolerance.absolute = entry["tolerance"][1].get<double>();
  const nlohmann::json &expected = entry["outputs"];
  if (expected.size() != outputs.size()) {
    return "there are " + std::to_string(outputs.size()) +
           " outputs, expected " + std::to_string(expected.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    Result<std::string> wrong =
        checkOutput(outputs[i].view(), expected[i], tolerance, folder);
    if (!wrong || !wrong->empty()) {
      return wrong ? "output " + expected[i]["name"].get<std::string>() + " " +
                         *wrong
                   : wrong;
    }
  }
  return std::string();
}

static Status measure(Context &context, const std::vector<TensorView> &inputs,
                      nlohmann::json &result) {
  std::vector<double> times;
  double total = 0;
  while (times.size() < fewestRuns ||
         (total < measuredMilliseconds && times.size() < mostRuns)) {
    Clock::time_point begin = Clock::now();
    TW_RETURN_IF_ERROR(context.run(inputs).status());
    times.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - begin)
            .count());
    total += times.back();
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  result["latency_ms"] = times[times.size() / 2];
  Result<nlohmann::json> kernels = timeKernels(context, inputs, timedRuns);
  TW_RETURN_IF_ERROR(kernels.status());
  double sum = 0;
  int64_t launches = 0;
  for (const nlohmann::json &row : *kernels) {
    sum += row["ms"].get<double>();
    launches += row["launches"].get<int64_t>();
  }
  result["kernel_ms"] = sum;
  result["launches"] = launches;
  result["kernels"] = std::move(*kernels);
  return Status::ok();
}

Result<nlohmann::json> runCase(const Session &session,
                               const nlohmann::json &entry,
                               const std::filesystem::path &folder) {
  auto module = openModule(
      session, entry, (folder / entry["module"].get<std::string>()).string());
  if (!module) {
    return module.status();
  }
  auto context = Context::create(*module, session.context);
  if (!context) {
    return context.status();
  }
  Result<std::vector<Tensor>> inputs =
      readInputs(**module, entry["inputs"], folder);
  if (!inputs) {
    return inputs.status();
  }
  std::vector<TensorView> views;
  for (const Tensor &input : *inputs) {
    views.push_back(input.view());
  }
  nlohmann::json result = {{"wrong", ""}};
  for (int run = 1; run <= checkedRuns; ++run) {
    auto outputs = (*context)->run(views);
    if (!outputs) {
      return outputs.status();
    }
    Result<std::string> wrong = check(*outputs, entry, folder);
    if (!wrong) {
      return wrong.status();
    }
    if (!wrong->empty()) {
      result["wrong"] = "run " + std::to_string(run) + ": " + *wrong;
      return result;
    }
  }
  ContextStatistics statistics = (*context)->statistics();
  result["replays"] = statistics.replays;
  result["compiled"] = statistics.compiledKernels;
  if (entry.value("measure", false) && !session.isSimulated()) {
    TW_RETURN_IF_ERROR(measure(**context, views, result));
  }
  return result;
}

} // namespace tilewright::gpucheck
