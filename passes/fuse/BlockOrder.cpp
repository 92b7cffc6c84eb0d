//===- BlockOrder.cpp - what must come before what ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/BlockOrder.h"
#include "ir/TwOps.h"
#include "passes/TensorOperands.h"
#include "passes/normalize/Symbols.h"
#include "llvm/ADT/BitVector.h"
#include <queue>

using namespace mlir;

namespace tilewright {

/// True if `op` draws random numbers, whose order is part of the program.
static bool isRandom(Operation *op) {
  return op
      ->walk([](tw::CallOp call) {
        return call.isRandom() ? WalkResult::interrupt()
                               : WalkResult::advance();
      })
      .wasInterrupted();
}

BlockOrder::BlockOrder(Block &block) {
  llvm::StringMap<unsigned> definers;
  std::optional<unsigned> lastRandom;
  for (Operation &op : block.without_terminator()) {
    unsigned position = operations.size();
    operations.push_back(&op);
    positions[&op] = position;
    groups.push_back(position);
    members.push_back({position});
    llvm::SetVector<unsigned> before;
    for (Value value : valuesReadBy(&op)) {
      Operation *source = value.getDefiningOp();
      if (source && source->getBlock() == &block) {
        before.insert(positions.lookup(source));
      }
    }
    llvm::StringSet<> symbols;
    collectSymbolsUsedBy(&op, /*nested=*/true, symbols);
    for (const auto &symbol : symbols) {
      auto definer = definers.find(symbol.getKey());
      if (definer != definers.end()) {
        before.insert(definer->second);
      }
    }
    if (isRandom(&op)) {
      if (lastRandom) {
        before.insert(*lastRandom);
      }
      lastRandom = position;
    }
    dependences.push_back(before.takeVector());
    for (StringRef symbol : symbolsDefinedBy(&op)) {
      definers[symbol] = position;
    }
  }
}

SmallVector<unsigned> BlockOrder::dependencesOf(unsigned group) const {
  llvm::SetVector<unsigned> result;
  for (unsigned member : members[group]) {
    for (unsigned before : dependences[member]) {
      if (groups[before] != group) {
        result.insert(groups[before]);
      }
    }
  }
  return result.takeVector();
}

bool BlockOrder::wouldCycle(unsigned a, unsigned b) const {
  llvm::BitVector seen(size());
  SmallVector<unsigned> work;
  auto enter = [&](unsigned group) {
    if (!seen.test(group)) {
      seen.set(group);
      work.push_back(group);
    }
  };
  // From outside: a direct dependence between the two is what fusing removes.
  for (unsigned start : {a, b}) {
    for (unsigned before : dependencesOf(start)) {
      if (before != a && before != b) {
        enter(before);
      }
    }
  }
  while (!work.empty()) {
    for (unsigned before : dependencesOf(work.pop_back_val())) {
      if (before == a || before == b) {
        return true;
      }
      enter(before);
    }
  }
  return false;
}

unsigned BlockOrder::merge(unsigned a, unsigned b) {
  unsigned target = std::min(a, b), other = std::max(a, b);
  for (unsigned member : members[other]) {
    groups[member] = target;
    members[target].push_back(member);
  }
  members[other].clear();
  llvm::sort(members[target]);
  return target;
}

SmallVector<unsigned> BlockOrder::sortedGroups() const {
  SmallVector<unsigned> waiting(size());
  SmallVector<SmallVector<unsigned>> users(size());
  // The earliest last member first.
  using Entry = std::pair<unsigned, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  auto makeReady = [&](unsigned group) {
    ready.push({members[group].back(), group});
  };
  for (unsigned group = 0; group < size(); ++group) {
    if (members[group].empty()) {
      continue;
    }
    SmallVector<unsigned> before = dependencesOf(group);
    waiting[group] = before.size();
    for (unsigned other : before) {
      users[other].push_back(group);
    }
    if (before.empty()) {
      makeReady(group);
    }
  }
  SmallVector<unsigned> sorted;
  while (!ready.empty()) {
    unsigned group = ready.top().second;
    ready.pop();
    sorted.push_back(group);
    for (unsigned user : users[group]) {
      if (--waiting[user] == 0) {
        makeReady(user);
      }
    }
  }
  return sorted;
}

} // namespace tilewright
