//===- ProductCall.h - a region as one call of cuBLASLt ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/contract/MatrixProduct.h"
#include "passes/plan/PlanBuilder.h"

namespace tilewright::library {

/// \returns the whole region as a product that cuBLASLt computes, or why it is
/// none (TWT15n).
std::optional<plan::ProductCall>
matchProductCall(const families::FusedRegion &region,
                 const families::MatrixProduct &product, bool tf32, bool strict,
                 Refusal &refusal);

} // namespace tilewright::library
