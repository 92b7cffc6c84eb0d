//===- FoldConstants.cpp - evaluate what depends on constants alone -------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// All constant subgraphs become one function without arguments, which the
// ConstantEvaluator compiles and runs. Reshapes of constants, sizes that are
// constants and branches with a constant condition need nobody to run them.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/normalize/ConstantSubgraphs.h"
#include "passes/normalize/CoordinateMasks.h"
#include "passes/normalize/InlineBranches.h"
#include "passes/normalize/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/normalize/Passes.h.inc"

using namespace tw;

//===----------------------------------------------------------------------===//
// Folds that only look
//===----------------------------------------------------------------------===//

/// A constant with other dims is the same bytes.
static bool foldReshape(ReshapeOp reshape) {
  auto constant = reshape.getSource().getDefiningOp<ConstantOp>();
  auto type = cast<RankedTensorType>(reshape.getType());
  if (!constant || !type.hasStaticShape()) {
    return false;
  }
  Attribute value = constant.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    value = dense.reshape(
        RankedTensorType::get(type.getShape(), type.getElementType()));
  }
  OpBuilder builder(reshape);
  auto folded = ConstantOp::create(builder, constant.getLoc(), type, value);
  reshape.replaceAllUsesWith(folded.getResult());
  reshape.erase();
  return true;
}

static bool foldSizes(SizesOp sizes) {
  SmallVector<int64_t> values;
  for (DimExpr size : sizes.getSizes().getDims()) {
    std::optional<int64_t> value = size.getConstant();
    if (!value) {
      return false;
    }
    values.push_back(*value);
  }
  OpBuilder builder(sizes);
  bool isScalar = cast<RankedTensorType>(sizes.getType()).getRank() == 0;
  sizes.replaceAllUsesWith(
      buildConstant(builder, sizes.getLoc(), values, isScalar));
  sizes.erase();
  return true;
}

static bool foldTrivially(Operation *root) {
  SmallVector<Operation *> candidates;
  root->walk([&](Operation *op) {
    if (isa<ReshapeOp, SizesOp>(op) && !op->getParentOfType<FusedOp>()) {
      candidates.push_back(op);
    }
  });
  bool changed = false;
  for (Operation *op : candidates) {
    auto reshape = dyn_cast<ReshapeOp>(op);
    changed |= reshape ? foldReshape(reshape) : foldSizes(cast<SizesOp>(op));
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// Folds that compute
//===----------------------------------------------------------------------===//

/// A module with one function that computes every subgraph's result.
static OwningOpRef<ModuleOp>
buildFunction(MLIRContext *context, ArrayRef<ConstantSubgraph> subgraphs) {
  SmallVector<Location> locs;
  SmallVector<Type> types;
  for (const ConstantSubgraph &subgraph : subgraphs) {
    locs.push_back(subgraph.result.getLoc());
    types.push_back(subgraph.result.getType());
  }
  Location loc = mergeLocations(context, locs);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "constants",
                                       builder.getFunctionType({}, types));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  llvm::DenseSet<Operation *> cloned;
  SmallVector<Value> results;
  for (const ConstantSubgraph &subgraph : subgraphs) {
    for (Operation *op : subgraph.operations) {
      if (cloned.insert(op).second) {
        builder.clone(*op, mapping);
      }
    }
    results.push_back(mapping.lookup(subgraph.result));
  }
  func::ReturnOp::create(builder, loc, results);
  return module;
}

/// Erases what nobody reads any more, users first.
static void eraseUnused(ArrayRef<ConstantSubgraph> subgraphs) {
  llvm::SetVector<Operation *> candidates;
  for (const ConstantSubgraph &subgraph : subgraphs) {
    for (Operation *op : llvm::reverse(subgraph.operations.getArrayRef())) {
      candidates.insert(op);
    }
  }
  bool changed = true;
  while (changed) {
    size_t before = candidates.size();
    candidates.remove_if([](Operation *op) {
      bool unused = op->use_empty();
      if (unused) {
        op->erase();
      }
      return unused;
    });
    changed = candidates.size() != before;
  }
}

/// Puts constants in place of what was computed.
static void replaceResults(ArrayRef<ConstantSubgraph> subgraphs,
                           std::vector<std::vector<char>> bytes,
                           Decisions &decisions) {
  for (auto [subgraph, data] : llvm::zip(subgraphs, bytes)) {
    OpBuilder builder(subgraph.result.getDefiningOp());
    auto owner = std::make_shared<const std::vector<char>>(std::move(data));
    Location loc = subgraph.result.getLoc();
    Value folded = buildConstant(
        builder, loc, cast<RankedTensorType>(subgraph.result.getType()), *owner,
        owner);
    Value(subgraph.result).replaceAllUsesWith(folded);
    decisions.did(
        reasons::constantFolded, loc, "constants",
        {{"bytes", static_cast<double>(owner->size())},
         {"operations", static_cast<double>(subgraph.operations.size())}});
  }
  eraseUnused(subgraphs);
}

namespace {

class FoldConstants : public impl::FoldConstantsBase<FoldConstants> {
public:
  FoldConstants(ConstantEvaluator *evaluator, DecisionLog *log)
      : evaluator(evaluator), log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    bool evaluateAgain = true;
    while (evaluateAgain) {
      foldWithoutRunning(decisions);
      if (failed(evaluate(decisions))) {
        return signalPassFailure();
      }
      // A condition that is known now brings more constants into reach.
      evaluateAgain = foldWithoutRunning(decisions) && evaluator;
    }
  }

private:
  /// \returns true if a branch was inlined.
  bool foldWithoutRunning(Decisions &decisions) {
    bool inlined = inlineConstantBranches(getOperation(), decisions);
    while (foldTrivially(getOperation())) {
    }
    return inlined;
  }

  LogicalResult evaluate(Decisions &decisions) {
    std::vector<ConstantSubgraph> masks;
    std::vector<ConstantSubgraph> subgraphs =
        findConstantSubgraphs(getOperation(), decisions, masks);
    if (failed(evaluate(subgraphs, decisions))) {
      return failure();
    }
    for (const ConstantSubgraph &mask : masks) {
      computeEvenNumbers(mask.operations);
    }
    return success();
  }

  LogicalResult evaluate(ArrayRef<ConstantSubgraph> subgraphs,
                         Decisions &decisions) {
    if (subgraphs.empty()) {
      return success();
    }
    if (!evaluator) {
      for (const ConstantSubgraph &subgraph : subgraphs) {
        decisions.refused(reasons::noEvaluator, subgraph.result.getLoc(),
                          "constants");
      }
      return success();
    }
    OwningOpRef<ModuleOp> module = buildFunction(&getContext(), subgraphs);
    auto function = *module->getOps<func::FuncOp>().begin();
    Result<std::vector<std::vector<char>>> bytes =
        evaluator->evaluate(function);
    if (!bytes) {
      return function.emitError()
             << "constants cannot be evaluated: " << bytes.status().toString();
    }
    replaceResults(subgraphs, std::move(*bytes), decisions);
    return success();
  }

  ConstantEvaluator *evaluator;
  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createFoldConstantsPass(ConstantEvaluator *evaluator,
                                              DecisionLog *log) {
  return std::make_unique<FoldConstants>(evaluator, log);
}

} // namespace tilewright
