//===- DepthParts.h - parts of a product's depth ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/TileCost.h"

namespace tilewright::families {

/// Parts of a contraction's depth that blocks of their own compute.
struct DepthParts {
  unsigned coordinate; ///< what is divided: an argument of the body
  int64_t count;       ///< divides its extent
};

/// \returns the parts with which a contraction should take least time, their
/// sum included; nothing if that is one part.
/// \param chunk what is left of the divided coordinate is a multiple of it.
/// \param clocks of the best tile for a size; nothing if none fits.
std::optional<DepthParts> chooseDepthParts(
    const MatrixProduct &contraction, const ProductSize &size, int64_t chunk,
    const GpuSpec &gpu,
    llvm::function_ref<std::optional<double>(const ProductSize &)> clocks);

} // namespace tilewright::families
