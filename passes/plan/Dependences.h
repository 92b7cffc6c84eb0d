//===- Dependences.h - which commands of a plan wait for which --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/exec/CommandAccess.h"
#include "llvm/ADT/SmallVector.h"

namespace tilewright::plan {

/// \returns the value whose memory `value` lies in.
uint32_t rootOf(const format::PlanT &plan, uint32_t value);

/// \returns, for each command of `function`, the earlier ones that it must come
/// after: those that write what it reads, and those that use what it
/// overwrites. Parts of one concatenation are written in any order behind a
/// command that comes before all of them, where its memory begins its life; an
/// owned value gets its memory with the first part, which comes before the
/// others. What follows from other dependences may be left out.
std::vector<llvm::SmallVector<uint32_t>>
dependencesOf(const format::PlanT &plan, const format::FunctionT &function);

} // namespace tilewright::plan
