//===- Access.h - how loads move along a coordinate -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"

namespace tilewright::families {

/// What a step along a coordinate does to the address of a load.
enum class Movement {
  None,       ///< the same element
  Contiguous, ///< the next element
  Strided,    ///< a fixed distance
  Irregular   ///< anything else
};

/// \returns how `load` moves as `coordinate` (an argument of its body) grows
/// through an aligned block of `width` positions.
Movement movementOf(tw::LoadOp load, mlir::BlockArgument coordinate,
                    int64_t width);

} // namespace tilewright::families
