//===- InlineBranches.cpp - tw.if with a constant condition ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/InlineBranches.h"
#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/normalize/Symbols.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// The sizes that the symbols of `branch` have when it yields `values`.
static llvm::StringMap<DimExpr> sizesOfSymbols(IfOp branch, ValueRange values) {
  llvm::StringMap<DimExpr> sizes;
  SmallVector<StringRef> defined = symbolsDefinedBy(branch);
  for (auto [result, value] : llvm::zip(branch.getResults(), values)) {
    SmallVector<DimExpr> outer = dimsOf(result.getType()),
                         inner = dimsOf(value.getType());
    if (outer.size() != inner.size()) {
      continue;
    }
    for (auto [symbol, size] : llvm::zip(outer, inner)) {
      if (symbol && size && llvm::is_contained(defined, symbol.symbolName())) {
        sizes.try_emplace(symbol.symbolName(), size);
      }
    }
  }
  return sizes;
}

static void inlineBranch(IfOp branch, bool condition, Operation *root) {
  Block &block = branch->getRegion(condition ? 0 : 1).front();
  Operation *yield = block.getTerminator();
  SmallVector<Value> values(yield->getOperands());
  llvm::StringMap<DimExpr> sizes = sizesOfSymbols(branch, values);
  yield->erase();
  branch->getBlock()->getOperations().splice(branch->getIterator(),
                                             block.getOperations());
  branch->replaceAllUsesWith(values);
  branch.erase();
  if (!sizes.empty()) {
    substituteSymbols(root, [&](StringRef name) { return sizes.lookup(name); });
  }
}

bool inlineConstantBranches(Operation *root, Decisions &decisions) {
  bool changed = false;
  // Outer branches first; what is inside an erased branch goes with it.
  while (true) {
    IfOp found;
    bool condition = false;
    root->walk<WalkOrder::PreOrder>([&](IfOp branch) {
      std::optional<SmallVector<int64_t>> value =
          constantIntegers(branch.getCondition());
      if (!value || value->size() != 1) {
        return WalkResult::advance();
      }
      found = branch;
      condition = value->front() != 0;
      return WalkResult::interrupt();
    });
    if (!found) {
      return changed;
    }
    decisions.did(reasons::branchTaken, found.getLoc(),
                  condition ? "then" : "else");
    inlineBranch(found, condition, root);
    changed = true;
  }
}

} // namespace tilewright
