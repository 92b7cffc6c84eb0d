//===- ControlFlow.cpp - basic blocks and where paths meet ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Lanes that took different ways at a branch run together again from the
// branch's immediate post-dominator on. Post-dominators are found by the
// iteration of Cooper, Harvey and Kennedy on the reversed graph.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/decode/Draft.h"

#include <algorithm>

using namespace tilewright::sim;

static std::vector<BasicBlock> splitBlocks(const DraftCode &draft,
                                           std::vector<uint32_t> &blockOf) {
  size_t count = draft.drafts.size();
  std::vector<bool> leads(count + 1, false);
  leads[0] = true;
  for (size_t i = 0; i < count; ++i) {
    const Draft &one = draft.drafts[i];
    for (uint32_t label : one.targets) {
      leads[draft.labels[label]] = true;
    }
    if (one.flow != Draft::Next) {
      leads[i + 1] = true;
    }
  }
  std::vector<BasicBlock> blocks;
  blockOf.assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    if (leads[i]) {
      BasicBlock block;
      block.begin = uint32_t(i);
      blocks.push_back(block);
    }
    blocks.back().end = uint32_t(i + 1);
    blockOf[i] = uint32_t(blocks.size() - 1);
  }
  return blocks;
}

/// Whether control may go on behind a draft that ends a block.
static bool fallsThrough(const Draft &last) {
  bool isGuarded = last.inst.guard != noOperand;
  if (last.flow == Draft::Branch) {
    return isGuarded && last.targets.size() == 1;
  }
  return last.flow == Draft::Next || isGuarded;
}

static uint32_t intersect(const std::vector<uint32_t> &order,
                          const std::vector<uint32_t> &dominator, uint32_t a,
                          uint32_t b) {
  while (a != b) {
    while (order[a] > order[b]) {
      a = dominator[a];
    }
    while (order[b] > order[a]) {
      b = dominator[b];
    }
  }
  return a;
}

/// Fills BasicBlock::postDominator. Node blocks.size() is the end.
static void findPostDominators(std::vector<BasicBlock> &blocks) {
  uint32_t end = uint32_t(blocks.size());
  std::vector<std::vector<uint32_t>> predecessors(end + 1);
  for (uint32_t i = 0; i < end; ++i) {
    for (uint32_t successor : blocks[i].successors) {
      predecessors[successor].push_back(i);
    }
    if (blocks[i].successors.empty()) {
      predecessors[end].push_back(i);
    }
  }
  // Reverse post-order of the reversed graph, from the end.
  std::vector<uint32_t> order(end + 1, noOperand);
  std::vector<uint32_t> sequence;
  std::vector<std::pair<uint32_t, size_t>> stack{{end, 0}};
  std::vector<bool> seen(end + 1, false);
  seen[end] = true;
  while (!stack.empty()) {
    auto &[node, next] = stack.back();
    if (next < predecessors[node].size()) {
      uint32_t child = predecessors[node][next++];
      if (!seen[child]) {
        seen[child] = true;
        stack.push_back({child, 0});
      }
    } else {
      sequence.push_back(node);
      stack.pop_back();
    }
  }
  std::reverse(sequence.begin(), sequence.end());
  for (uint32_t i = 0; i < sequence.size(); ++i) {
    order[sequence[i]] = i;
  }
  std::vector<uint32_t> dominator(end + 1, noOperand);
  dominator[end] = end;
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t node : sequence) {
      if (node == end) {
        continue;
      }
      uint32_t best = blocks[node].successors.empty() ? end : noOperand;
      for (uint32_t successor : blocks[node].successors) {
        if (dominator[successor] != noOperand) {
          best = best == noOperand
                     ? successor
                     : intersect(order, dominator, best, successor);
        }
      }
      if (best != dominator[node]) {
        dominator[node] = best;
        changed = true;
      }
    }
  }
  for (uint32_t i = 0; i < end; ++i) {
    bool isReal = dominator[i] != noOperand && dominator[i] != end;
    blocks[i].postDominator = isReal ? dominator[i] : noOperand;
  }
}

std::vector<BasicBlock> tilewright::sim::findBlocks(const DraftCode &draft) {
  std::vector<uint32_t> blockOf;
  std::vector<BasicBlock> blocks = splitBlocks(draft, blockOf);
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    const Draft &last = draft.drafts[blocks[i].end - 1];
    std::vector<uint32_t> &successors = blocks[i].successors;
    for (uint32_t label : last.targets) {
      successors.push_back(blockOf[draft.labels[label]]);
    }
    if (fallsThrough(last) && i + 1 < blocks.size()) {
      successors.push_back(i + 1);
    }
    std::sort(successors.begin(), successors.end());
    successors.erase(std::unique(successors.begin(), successors.end()),
                     successors.end());
  }
  findPostDominators(blocks);
  return blocks;
}
