//===- PlanVerifier.h - plans that can be executed --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The executor indexes without looking. This is where everything that a plan
// says is checked: once, when a module is opened.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/format/module_generated.h"
#include "tilewright/Status.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tilewright {

constexpr uint32_t noFunction = UINT32_MAX;

/// A plan that has been checked, and what the checks found out.
struct VerifiedPlan {
  std::unique_ptr<format::PlanT> plan;
  /// For each value: itself, or what an Alias is an alias of in the end.
  std::vector<uint32_t> root;
  /// For each value: the function whose command or parameter list defines it.
  std::vector<uint32_t> definer;
  /// For each expression: whether it depends on no symbol.
  std::vector<bool> isConstant;
};

/// Checks a plan against a module with these constants (their bytes) and
/// signature. Errors: ModuleDamaged, UnsupportedType (sequences, strings),
/// UnsupportedOperator (a builtin that this runtime lacks).
Result<VerifiedPlan> verifyPlan(std::unique_ptr<format::PlanT> plan,
                                const std::vector<uint64_t> &constantBytes);

/// The part of verifyPlan that follows the commands in order: every symbol,
/// expression and value is known before it is used.
Status verifyFlow(VerifiedPlan &verified);

/// The checks of what only a GPU reads: blocks, streams and events. Events are
/// recorded once, before anything waits for them. Error: ModuleDamaged.
Status verifyForGpu(const format::PlanT &plan);

/// The error for a plan that contradicts itself.
Status planError(const std::string &what);

} // namespace tilewright
