//===- TargetSpec.cpp - what a target offers ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/TargetSpec.h"

#include <algorithm>

namespace tilewright {

const std::vector<TargetSpec> &allTargets() {
  static const std::vector<TargetSpec> targets = [] {
    std::vector<TargetSpec> result = {
#include "targets/TargetSpecs.inc"
    };
    std::sort(result.begin(), result.end(),
              [](const TargetSpec &a, const TargetSpec &b) {
                return a.order < b.order;
              });
    return result;
  }();
  return targets;
}

const std::vector<TargetSpec> &gpuTargets() {
  static const std::vector<TargetSpec> targets = [] {
    constexpr unsigned accessBytes = 16;
    std::vector<TargetSpec> result;
    for (const GpuSpec &gpu : allGpus()) {
      TargetSpec target = {};
      target.name = gpu.name;
      target.summary = gpu.summary;
      target.order = gpu.order;
      target.vectorBytes = accessBytes;
      target.vectorRegisters = GpuSpec::mostRegistersPerThread;
      target.hasFma = true;
      target.hasF16C = true;
      target.l1Bytes = gpu.sharedBytesPerMultiprocessor;
      target.l2Bytes = gpu.l2Bytes;
      target.gpu = &gpu;
      result.push_back(target);
    }
    return result;
  }();
  return targets;
}

const TargetSpec *findTarget(std::string_view name) {
  for (const auto *list : {&allTargets(), &gpuTargets()}) {
    for (const TargetSpec &target : *list) {
      if (target.name == name) {
        return &target;
      }
    }
  }
  return nullptr;
}

std::string fullName(const TargetSpec &target) {
  return (target.isGpu() ? "cuda:" : "cpu:") + std::string(target.name);
}

bool runsOnHost(const TargetSpec &target) {
  __builtin_cpu_init();
  // The builtin takes literals only. It asks the operating system, too, whether
  // it saves the registers.
  if (target.llvmCpu == "x86-64-v2") {
    return __builtin_cpu_supports("x86-64-v2");
  }
  if (target.llvmCpu == "x86-64-v3") {
    return __builtin_cpu_supports("x86-64-v3");
  }
  if (target.llvmCpu == "x86-64-v4") {
    return __builtin_cpu_supports("x86-64-v4");
  }
  return false;
}

const TargetSpec *hostTarget() {
  const TargetSpec *best = nullptr;
  for (const TargetSpec &target : allTargets()) {
    if (runsOnHost(target)) {
      best = &target;
    }
  }
  return best;
}

} // namespace tilewright
