//===- CanonicalizeGraph.cpp - canonical form and dead code ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// MLIR's canonicaliser and CSE, and what they cannot see: a symbol that no type
// mentions needs no definition, and a result of control flow that nobody reads
// needs no computation.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
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

/// The symbols that stand alone as a dim of one of `values`.
static void collectVisible(ValueRange values, llvm::StringSet<> &visible) {
  for (Value value : values) {
    for (DimExpr dim : dimsOf(value.getType())) {
      visible.insert(dim ? dim.symbolName() : StringRef());
    }
  }
}

/// The symbols that `op` would still define with the results `kept`; nullopt if
/// it would no longer define one that somebody mentions.
static std::optional<SmallVector<Attribute>>
remainingSymbols(Operation *op, ArrayRef<Value> kept, Operation *root) {
  llvm::StringSet<> visible, used;
  collectVisible(kept, visible);
  if (auto loop = dyn_cast<LoopOp>(op)) {
    collectVisible(loop.getBody().getArguments(), visible);
  }
  root->walk([&](Operation *other) {
    if (other != op) {
      collectSymbolsUsedBy(other, /*nested=*/false, used);
    }
  });
  SmallVector<Attribute> remaining;
  for (StringRef symbol : symbolsDefinedBy(op)) {
    if (visible.contains(symbol)) {
      remaining.push_back(StringAttr::get(op->getContext(), symbol));
    } else if (used.contains(symbol)) {
      return std::nullopt;
    }
  }
  return remaining;
}

/// The same control flow with other results and an empty region.
static Operation *createSmaller(OpBuilder &builder, Operation *op,
                                TypeRange types, ArrayRef<Attribute> symbols) {
  ArrayAttr defines =
      symbols.empty() ? ArrayAttr() : builder.getArrayAttr(symbols);
  if (auto loop = dyn_cast<LoopOp>(op)) {
    return LoopOp::create(builder, op->getLoc(), types, loop.getTripCount(),
                          loop.getCondition(), loop.getCarried(), defines);
  }
  return IfOp::create(builder, op->getLoc(), types,
                      cast<IfOp>(op).getCondition(), defines);
}

/// Drops the results of a tw.if, and the stacks of a tw.loop, that nobody
/// reads.
static bool pruneResults(Operation *op, Operation *root, Decisions &decisions) {
  // A loop needs all that it carries; its yield has the condition in front.
  auto loop = dyn_cast<LoopOp>(op);
  unsigned carried = loop ? loop.getCarried().size() : 0;
  unsigned inFront = loop ? 1 : 0;
  SmallVector<Value> kept;
  for (OpResult result : op->getResults()) {
    if (result.getResultNumber() < carried || !result.use_empty()) {
      kept.push_back(result);
    }
  }
  if (kept.size() == op->getNumResults()) {
    return false;
  }
  auto symbols = remainingSymbols(op, kept, root);
  if (!symbols) {
    return false;
  }
  OpBuilder builder(op);
  Operation *smaller =
      createSmaller(builder, op, ValueRange(kept).getTypes(), *symbols);
  for (auto [from, to] : llvm::zip(op->getRegions(), smaller->getRegions())) {
    to.takeBody(from);
    Operation *yield = to.front().getTerminator();
    SmallVector<Value> values(yield->getOperands().take_front(inFront));
    for (Value result : kept) {
      values.push_back(yield->getOperand(
          inFront + cast<OpResult>(result).getResultNumber()));
    }
    yield->setOperands(values);
  }
  for (auto [result, replacement] : llvm::zip(kept, smaller->getResults())) {
    result.replaceAllUsesWith(replacement);
  }
  decisions.did(reasons::resultUnused, op->getLoc(),
                op->getName().getStringRef());
  op->erase();
  return true;
}

/// Drops the condition of a loop that its trip count alone ends: the runtime
/// would ask the body for it after every iteration.
static bool dropTrueCondition(Operation *op) {
  auto loop = dyn_cast<LoopOp>(op);
  if (!loop || !loop.getTripCount() || !loop.getCondition()) {
    return false;
  }
  auto isTrue = [](Value value) { return matchPattern(value, m_One()); };
  Block &body = loop.getBody().front();
  Value next = body.getTerminator()->getOperand(0);
  bool staysTrue = isTrue(loop.getCondition()) &&
                   (next == body.getArgument(1) || isTrue(next));
  if (staysTrue) {
    loop.getConditionMutable().clear();
  }
  return staysTrue;
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
      SmallVector<Operation *> controlFlow;
      getOperation()->walk([&](Operation *op) {
        if (isa<IfOp, LoopOp>(op)) {
          controlFlow.push_back(op);
        }
      });
      for (Operation *op : controlFlow) {
        changed |= dropTrueCondition(op);
        changed |= pruneResults(op, getOperation(), decisions);
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
