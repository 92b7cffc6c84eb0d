//===- Dependences.h - which commands of a plan wait for which --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/format/module_generated.h"
#include "llvm/ADT/SmallVector.h"

namespace tilewright::plan {

/// What a command does with values that commands of its function write.
struct CommandAccess {
  llvm::SmallVector<uint32_t> reads, writes;
  /// A call of other functions, which read what they like: everything before
  /// comes before it, everything behind after it.
  bool isBarrier = false;
};

CommandAccess accessOf(const format::CommandT &command);

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
