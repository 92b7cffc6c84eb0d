//===- GpuSpec.cpp - what a GPU offers ------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/GpuSpec.h"

#include <algorithm>

namespace tilewright {

const std::vector<GpuSpec> &allGpus() {
  static const std::vector<GpuSpec> gpus = [] {
    std::vector<GpuSpec> result = {
#include "targets/GpuSpecs.inc"
    };
    std::sort(
        result.begin(), result.end(),
        [](const GpuSpec &a, const GpuSpec &b) { return a.order < b.order; });
    return result;
  }();
  return gpus;
}

} // namespace tilewright
