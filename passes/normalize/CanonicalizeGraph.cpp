//===- CanonicalizeGraph.cpp - canonical form and dead code ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// MLIR's canonicaliser and CSE, and what they cannot see: a symbol that no type
// mentions needs no definition, and a result of tw.if that nobody reads needs
// no computation.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/ReasonCodes.h"
#include "passes/normalize/Passes.h"
#include "passes/normalize/Symbols.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_CANONICALIZEGRAPH
#include "passes/normalize/Passes.h.inc"

using namespace tw;

/// Erases size reads and builtins whose symbols and results nobody mentions.
/// Random numbers stay: each draw moves on the sequence.
static bool dropUnusedSymbols(Operation *root, Decisions &decisions) {
  llvm::StringSet<> used;
  root->walk([&](Operation *op) {
    // The dims of a result that nobody reads do not count.
    if (!isa<CallOp>(op) || !op->use_empty()) {
      collectSymbolsUsedBy(op, /*nested=*/false, used);
    }
  });
  SmallVector<Operation *> dead;
  root->walk([&](Operation *op) {
    auto call = dyn_cast<CallOp>(op);
    bool mayGo =
        isa<ReadSizesOp>(op) || (call && !call.isRandom() && call->use_empty());
    if (mayGo && llvm::none_of(symbolsDefinedBy(op),
                               [&](StringRef s) { return used.contains(s); })) {
      dead.push_back(op);
    }
  });
  for (Operation *op : dead) {
    decisions.did(reasons::symbolUnused, op->getLoc(),
                  op->getName().getStringRef());
    op->erase();
  }
  return !dead.empty();
}

/// True if every symbol that the branch defines and somebody else mentions
/// still stands alone as a dim of a kept result.
static bool symbolsStayDefined(IfOp branch, ArrayRef<unsigned> kept,
                               Operation *root) {
  SmallVector<StringRef> defined = symbolsDefinedBy(branch);
  if (defined.empty()) {
    return true;
  }
  llvm::StringSet<> visible;
  for (unsigned i : kept) {
    for (DimExpr dim : dimsOf(branch.getResult(i).getType())) {
      visible.insert(dim ? dim.symbolName() : StringRef());
    }
  }
  llvm::StringSet<> used;
  root->walk([&](Operation *op) {
    if (op != branch) {
      collectSymbolsUsedBy(op, /*nested=*/false, used);
    }
  });
  return llvm::all_of(defined, [&](StringRef s) {
    return visible.contains(s) || !used.contains(s);
  });
}

/// Drops the results of `branch` that nobody reads.
static bool pruneResults(IfOp branch, Operation *root, Decisions &decisions) {
  SmallVector<unsigned> kept;
  for (OpResult result : branch->getResults()) {
    if (!result.use_empty()) {
      kept.push_back(result.getResultNumber());
    }
  }
  if (kept.size() == branch->getNumResults() ||
      !symbolsStayDefined(branch, kept, root)) {
    return false;
  }
  OpBuilder builder(branch);
  SmallVector<Type> types;
  llvm::StringSet<> alone;
  for (unsigned i : kept) {
    types.push_back(branch.getResult(i).getType());
    for (DimExpr dim : dimsOf(types.back())) {
      alone.insert(dim ? dim.symbolName() : StringRef());
    }
  }
  SmallVector<Attribute> defines;
  for (StringRef symbol : symbolsDefinedBy(branch)) {
    if (alone.contains(symbol)) {
      defines.push_back(builder.getStringAttr(symbol));
    }
  }
  auto smaller = IfOp::create(
      builder, branch.getLoc(), types, branch.getCondition(),
      defines.empty() ? ArrayAttr() : builder.getArrayAttr(defines));
  for (unsigned r = 0; r < 2; ++r) {
    Region &region = smaller->getRegion(r);
    region.takeBody(branch->getRegion(r));
    Operation *yield = region.front().getTerminator();
    SmallVector<Value> values;
    for (unsigned i : kept) {
      values.push_back(yield->getOperand(i));
    }
    yield->setOperands(values);
  }
  for (auto [position, i] : llvm::enumerate(kept)) {
    branch.getResult(i).replaceAllUsesWith(smaller.getResult(position));
  }
  decisions.did(reasons::resultUnused, branch.getLoc(), "tw.if");
  branch.erase();
  return true;
}

static void canonicalize(Operation *root) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  for (Dialect *dialect : context->getLoadedDialects()) {
    dialect->getCanonicalizationPatterns(patterns);
  }
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    op.getCanonicalizationPatterns(patterns, context);
  }
  // Not converging is harmless: every step alone is sound.
  (void)applyPatternsGreedily(root, std::move(patterns));
  IRRewriter rewriter(context);
  DominanceInfo dominance(root);
  eliminateCommonSubExpressions(rewriter, dominance, root);
}

namespace {

class CanonicalizeGraph
    : public impl::CanonicalizeGraphBase<CanonicalizeGraph> {
public:
  explicit CanonicalizeGraph(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    bool changed = true;
    while (changed) {
      canonicalize(getOperation());
      changed = dropUnusedSymbols(getOperation(), decisions);
      SmallVector<IfOp> branches;
      getOperation()->walk([&](IfOp branch) { branches.push_back(branch); });
      for (IfOp branch : branches) {
        changed |= pruneResults(branch, getOperation(), decisions);
      }
    }
  }

private:
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createCanonicalizeGraphPass(DecisionLog *log) {
  return std::make_unique<CanonicalizeGraph>(log);
}

} // namespace tilewright
