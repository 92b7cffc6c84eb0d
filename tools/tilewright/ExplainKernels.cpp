//===- ExplainKernels.cpp - a GPU's kernels, by ONNX node -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/ExplainKernels.h"

#include "runtime/module/PlanVerifier.h"
#include "tilewright/DType.h"
#include "tools/driver/Traffic.h"

#include <algorithm>

namespace tilewright {

namespace {

/// A verified plan for a GPU and the code that belongs to it.
struct GpuVariant {
  std::string target;
  const format::PlanT &plan;
  const format::Variant &packed;
  std::vector<int64_t> sizes; // of expressions, with every symbol 1
};

} // namespace

static int64_t bytesOf(const GpuVariant &variant, uint32_t number) {
  const format::ValueT &value = *variant.plan.values[number];
  int64_t bytes = static_cast<int64_t>(sizeOf(static_cast<DType>(value.dtype)));
  for (uint32_t dim : value.dims) {
    int64_t size = std::max<int64_t>(variant.sizes[dim], 0);
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return INT64_MAX;
    }
  }
  return bytes;
}

static nlohmann::json explainLaunch(const GpuVariant &variant,
                                    const format::CommandT &command,
                                    const format::LaunchT &launch) {
  nlohmann::json numbers = {{"threads", launch.threads}};
  int64_t traffic = 0;
  for (uint32_t argument : launch.args) {
    if (__builtin_add_overflow(traffic, bytesOf(variant, argument), &traffic)) {
      traffic = INT64_MAX;
    }
  }
  numbers["traffic_bytes"] = traffic;
  uint64_t shared = launch.shared;
  const auto *kernels = variant.packed.device_kernels();
  if (kernels && launch.kernel < kernels->size()) {
    const format::DeviceKernel &kernel = *kernels->Get(launch.kernel);
    numbers["registers"] = kernel.registers();
    numbers["spill_bytes"] = kernel.spill_bytes();
    shared += kernel.shared_bytes();
  }
  numbers["shared_bytes"] = shared;
  nlohmann::json nodes = nlohmann::json::array();
  for (uint32_t node : command.nodes) {
    nodes.push_back(variant.plan.nodes[node]);
  }
  return {{"code", "kernel"},
          {"refused", false},
          {"message",
           (launch.product ? "runs on cuBLASLt, without it as " : "runs as ") +
               variant.plan.kernels[launch.kernel] + " on " + variant.target},
          {"nodes", std::move(nodes)},
          {"numbers", std::move(numbers)}};
}

Result<nlohmann::json> explainKernels(const ModuleFile &file) {
  std::vector<uint64_t> constantBytes;
  const auto *constants = file.root().constants();
  for (flatbuffers::uoffset_t i = 0; constants && i < constants->size(); ++i) {
    const format::Segment *data = constants->Get(i)->data();
    constantBytes.push_back(data ? data->bytes() : 0);
  }
  nlohmann::json entries = nlohmann::json::array();
  const auto *variants = file.root().variants();
  for (flatbuffers::uoffset_t i = 0; variants && i < variants->size(); ++i) {
    const format::Variant &packed = *variants->Get(i);
    if (!packed.target() || packed.target()->str() != "cuda" ||
        !packed.plan()) {
      continue;
    }
    Result<VerifiedPlan> verified = verifyPlan(
        std::unique_ptr<format::PlanT>(packed.plan()->UnPack()), constantBytes);
    TW_RETURN_IF_ERROR(verified.status());
    GpuVariant variant{"cuda:" + (packed.level() ? packed.level()->str() : ""),
                       *verified->plan, packed, sizesOfOnes(*verified->plan)};
    for (const auto &function : variant.plan.functions) {
      for (const auto &command : function->commands) {
        if (const format::LaunchT *launch = command->body.AsLaunch()) {
          entries.push_back(explainLaunch(variant, *command, *launch));
        }
      }
    }
  }
  return entries;
}

} // namespace tilewright
