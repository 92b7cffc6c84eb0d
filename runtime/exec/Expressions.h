//===- Expressions.h - sizes at run time ------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/format/module_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// The value of an expression that does not fit into 64 bits, and of whatever
/// is computed from it (a Select that does not choose it excepted).
constexpr int64_t overflowedSize = INT64_MIN;

/// \returns the value of `expr` from those of the earlier expressions and of
/// the symbols. Never overflows: see overflowedSize.
int64_t evaluateExpression(const format::Expr &expr,
                           const std::vector<int64_t> &expressions,
                           const std::vector<int64_t> &symbols);

/// \returns expression `index` as a user reads it: "2*N + 1", "H floordiv 2".
std::string expressionText(const format::PlanT &plan, uint32_t index);

} // namespace tilewright
