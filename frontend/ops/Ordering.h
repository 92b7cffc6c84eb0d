//===- Ordering.h - scalars to compare in an argmax -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/ops/Common.h"

namespace tilewright::frontend {

/// A scalar whose signed (or float) order is the order of the elements: what
/// the body of an argmax yields.
Value orderedScalar(BodyBuilder &body, Value scalar, Type element);

} // namespace tilewright::frontend
