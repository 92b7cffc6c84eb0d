//===- Elements.h - integers that are known at compile time -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"

namespace tilewright::frontend {

/// Works out what is known of the elements of an imported node's outputs:
/// vectors and scalars of integers as size expressions, of floats only as
/// constants. A tensor whose elements are all known is replaced by a constant
/// or by `tw.sizes`.
void inferElements(NodeImport &node);

} // namespace tilewright::frontend
