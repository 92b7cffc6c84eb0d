//===- TimedModule.cpp - one run's result and its kernels' times ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/TimedModule.h"

#include "tools/tilewright/bench-runner/KernelTimes.h"

namespace tilewright::gpucheck {

Result<TimedRun> runTimed(const Session &session,
                          const std::filesystem::path &path,
                          const std::vector<TensorView> &inputs,
                          double operations) {
  auto module = Module::open(path.string(), session.options);
  if (!module) {
    return module.status();
  }
  auto context = Context::create(*module, session.context);
  if (!context) {
    return context.status();
  }
  Result<std::vector<Tensor>> outputs = (*context)->run(inputs);
  if (!outputs) {
    return outputs.status();
  }
  if (outputs->size() != 1) {
    return Status(ErrorCode::ModuleDamaged,
                  "'" + path.string() + "' has not one output");
  }
  TimedRun result;
  result.output = std::move(outputs->front());
  result.figures = nlohmann::json::object();
  ContextStatistics statistics = (*context)->statistics();
  result.libraryCalls = statistics.libraryCalls;
  result.libraryRefusal = statistics.libraryRefusal;
  if (session.isSimulated()) {
    return result;
  }
  Result<nlohmann::json> kernels = timeKernels(**context, inputs, tableRuns);
  if (!kernels) {
    return kernels.status();
  }
  double milliseconds = 0;
  for (const nlohmann::json &row : *kernels) {
    milliseconds += row["ms"].get<double>();
  }
  result.figures = {
      {"ms", milliseconds},
      {"tflops", milliseconds > 0 ? operations / milliseconds / 1e9 : 0},
      {"kernels", std::move(*kernels)}};
  return result;
}

} // namespace tilewright::gpucheck
