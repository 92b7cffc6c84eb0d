//===- FoldParts.h - parts of a long reduction ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A long reduction with few results, such as the mean of a whole tensor, keeps
// few of a GPU's multiprocessors busy, since a block computes a result. Divided
// into parts, it keeps all of them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"
#include "codegen/families/contract/DepthParts.h"

namespace tilewright::families {

/// \returns the parts with which a region of form Reduce should take less
/// time, the launch that folds them included; nothing if there are none, or
/// if the reduction is no plain fold.
std::optional<DepthParts> chooseFoldParts(const FusedRegion &region,
                                          const GpuSpec &gpu);

} // namespace tilewright::families
