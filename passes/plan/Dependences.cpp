//===- Dependences.cpp - which commands of a plan wait for which ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Dependences.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tilewright::plan {

uint32_t rootOf(const format::PlanT &plan, uint32_t value) {
  while (plan.values[value]->storage == format::Storage_Alias) {
    value = plan.values[value]->index;
  }
  return value;
}

namespace {

/// The commands that have used the memory of one root.
struct History {
  llvm::SmallVector<uint32_t> writers, readers;
};

class Walk {
public:
  Walk(const format::PlanT &plan, const format::FunctionT &function)
      : plan(plan), function(function), result(function.commands.size()),
        ancestors(function.commands.size()) {}

  std::vector<llvm::SmallVector<uint32_t>> run() {
    for (uint32_t i = 0; i < function.commands.size(); ++i) {
      command(i, accessOf(*function.commands[i]));
    }
    return std::move(result);
  }

private:
  void command(uint32_t number, const CommandAccess &access) {
    llvm::SmallVector<uint32_t> &before = result[number];
    if (access.isBarrier) {
      for (uint32_t i = barrier ? *barrier : 0; i < number; ++i) {
        before.push_back(i);
      }
      barrier = number;
      addAncestors(number);
      return;
    }
    if (barrier) {
      before.push_back(*barrier);
    }
    llvm::SmallVector<uint32_t> readRoots;
    for (uint32_t value : access.reads) {
      History &history = histories[rootOf(plan, value)];
      llvm::append_range(before, history.writers);
      readRoots.push_back(rootOf(plan, value));
    }
    for (uint32_t value : access.writes) {
      uint32_t root = rootOf(plan, value);
      History &history = histories[root];
      // In place of an operand; else it is a value of its own or a part.
      if (llvm::is_contained(readRoots, root)) {
        llvm::append_range(before, history.writers);
        llvm::append_range(before, history.readers);
      } else if (!history.writers.empty() &&
                 (plan.values[root]->storage == format::Storage_Owned ||
                  !haveCommonAncestor(history.writers.front(), before))) {
        before.push_back(history.writers.front());
      }
      history.writers.push_back(number);
    }
    for (uint32_t root : readRoots) {
      histories[root].readers.push_back(number);
    }
    llvm::sort(before);
    before.erase(llvm::unique(before), before.end());
    // A command may be its own operand's writer when it works in place.
    llvm::erase(before, number);
    addAncestors(number);
  }

  void addAncestors(uint32_t number) {
    llvm::SmallBitVector &own = ancestors[number];
    own.resize(result.size());
    for (uint32_t before : result[number]) {
      own.set(before);
      own |= ancestors[before];
    }
  }

  /// True if something comes before `command` and before what comes after
  /// `others`.
  bool haveCommonAncestor(uint32_t command, llvm::ArrayRef<uint32_t> others) {
    return llvm::any_of(others, [&](uint32_t other) {
      return ancestors[command].test(other) ||
             ancestors[command].anyCommon(ancestors[other]);
    });
  }

  const format::PlanT &plan;
  const format::FunctionT &function;
  std::vector<llvm::SmallVector<uint32_t>> result;
  std::vector<llvm::SmallBitVector> ancestors; // all that come before
  llvm::DenseMap<uint32_t, History> histories;
  std::optional<uint32_t> barrier;
};

} // namespace

std::vector<llvm::SmallVector<uint32_t>>
dependencesOf(const format::PlanT &plan, const format::FunctionT &function) {
  return Walk(plan, function).run();
}

} // namespace tilewright::plan
