//===- FormAttention.cpp - attention becomes one region -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The scores and weights of attention are the largest tensors of a transformer,
// and nobody needs them: as one region they never leave the caches. What makes
// the queries from a projection (a rotation by position) is computed where they
// are read, once per element.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Matchers.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/AttentionForm.h"
#include "passes/fuse/BuildRegion.h"
#include "passes/fuse/InlineBody.h"
#include "passes/fuse/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_FORMATTENTION
#include "passes/fuse/Passes.h.inc"

using namespace tw;

/// The map that computes what `load` reads, if it does so for this load's
/// primitive alone and can do it there: queries are read once, keys and values
/// once per block of queries.
static MapOp producerOf(LoadOp load, bool isQuery) {
  constexpr unsigned cheapFlops = 2;
  auto producer = load.getSource().getDefiningOp<MapOp>();
  if (!producer || producer->getBlock() != primitiveOf(load)->getBlock() ||
      producer->getNumResults() != 1 || countReaders(producer) != 1 ||
      isEpilogue(producer)) {
    return {};
  }
  BodyCost cost = costOf(producer);
  bool isCheap =
      !cost.transcendental && !cost.guarded && cost.flops <= cheapFlops;
  return !cost.gathers && (isQuery || isCheap) ? producer : MapOp();
}

/// Lets a contraction compute its operands. Loads that depend on `key` are not
/// of queries.
static void inlineOperands(ReduceOp contraction, Value key, Value weights,
                           Decisions &decisions) {
  auto producerFor = [&](LoadOp load) {
    return load.getSource() == weights
               ? MapOp()
               : producerOf(load, !coordinatesOf(load).contains(key));
  };
  auto next = [&]() -> LoadOp {
    for (LoadOp load : contraction.getBody().getOps<LoadOp>()) {
      if (producerFor(load)) {
        return load;
      }
    }
    return {};
  };
  while (LoadOp load = next()) {
    MapOp producer = producerFor(load);
    bool isQuery = !coordinatesOf(load).contains(key);
    decisions.did(reasons::producerInlined, producer.getLoc(),
                  isQuery ? "queries" : "keys or values");
    contraction->setLoc(mergeLocations(
        contraction.getContext(), {producer.getLoc(), contraction.getLoc()}));
    // A factor that is rounded to 16 bits is one of matrix units.
    inlineProducer(load, producer, /*strict=*/true);
    if (producer.use_empty()) {
      producer.erase();
    }
  }
  simplifyBody(contraction);
}

/// True for a map whose elements cost a score about as much as reading them:
/// little arithmetic on coordinates and on what all queries share. Queries lie
/// along the lanes of a kernel, where a tensor with an axis of keys beside that
/// of queries is read by gathers.
static bool isCheapMask(LoadOp load, BlockArgument query) {
  constexpr unsigned fewFlops = 8;
  auto producer = load.getSource().getDefiningOp<MapOp>();
  if (!producer || load.getGuard() || producer->getNumResults() != 1 ||
      producer->getBlock() != primitiveOf(load)->getBlock()) {
    return false;
  }
  BodyCost cost = costOf(producer);
  if (cost.transcendental || cost.flops > fewFlops || cost.gathers ||
      cost.guarded) {
    return false;
  }
  for (auto [axis, index] : llvm::enumerate(load.getIndices())) {
    BlockArgument coordinate = producer.getBody().getArgument(axis);
    bool moves = coordinatesOf(index).contains(query);
    for (LoadOp inner : producer.getBody().getOps<LoadOp>()) {
      if (moves && coordinatesOf(inner).contains(coordinate)) {
        return false;
      }
    }
  }
  return llvm::any_of(load.getIndices(), [&](Value index) {
    return coordinatesOf(index).contains(query);
  });
}

/// Lets the score's maps compute masks of that kind.
static void inlineMasks(AttentionForm &form, bool strict,
                        Decisions &decisions) {
  if (!form.queryAxis) {
    return;
  }
  for (MapOp map : form.scoreMaps) {
    BlockArgument query = map.getBody().getArgument(*form.queryAxis);
    auto next = [&]() -> LoadOp {
      for (LoadOp load : map.getBody().getOps<LoadOp>()) {
        if (isCheapMask(load, query)) {
          return load;
        }
      }
      return {};
    };
    while (LoadOp load = next()) {
      MapOp producer = load.getSource().getDefiningOp<MapOp>();
      decisions.did(reasons::producerInlined, producer.getLoc(), "mask");
      map->setLoc(
          mergeLocations(map.getContext(), {producer.getLoc(), map.getLoc()}));
      inlineProducer(load, producer, strict);
      if (producer.use_empty()) {
        producer.erase();
      }
    }
    simplifyBody(map);
  }
}

/// The weights that `contraction` reads may be those of softmax but for rows
/// that a condition clears. Such a map computes the weights itself then.
static void inlineWeights(ReduceOp contraction, bool strict) {
  for (LoadOp load : contraction.getBody().getOps<LoadOp>()) {
    auto map = load.getSource().getDefiningOp<MapOp>();
    if (!map || map->getNumResults() != 1) {
      continue;
    }
    Operation *selection = yieldOf(map).getOperand(0).getDefiningOp();
    if (auto rounding = dyn_cast_or_null<arith::TruncFOp>(selection)) {
      selection = rounding.getIn().getDefiningOp();
    }
    if (!isa_and_nonnull<arith::SelectOp>(selection)) {
      continue;
    }
    for (unsigned i : {1, 2}) {
      Value chosen = selection->getOperand(i);
      if (!matchPattern(selection->getOperand(3 - i), m_AnyZeroFloat())) {
        continue;
      }
      if (auto widening = chosen.getDefiningOp<arith::ExtFOp>()) {
        chosen = widening.getIn();
      }
      auto inner = chosen.getDefiningOp<LoadOp>();
      auto weights = inner ? inner.getSource().getDefiningOp<MapOp>() : MapOp();
      bool isOwn = weights && readsAtOwnCoordinates(inner) &&
                   weights->getNumResults() == 1 &&
                   weights->getBlock() == map->getBlock() &&
                   countReaders(weights) == 1;
      if (isOwn) {
        map->setLoc(
            mergeLocations(map.getContext(), {weights.getLoc(), map.getLoc()}));
        inlineProducer(inner, weights, strict);
        if (weights.use_empty()) {
          weights.erase();
        }
        return;
      }
    }
  }
}

/// What `scalar` is a constant times, perhaps rounded to the 16 bits that it
/// had before; null if it is no product of that kind.
static Value withoutScale(Value scalar, FloatAttr &scale) {
  Type rounded;
  if (auto widening = scalar.getDefiningOp<arith::ExtFOp>()) {
    auto rounding = widening.getIn().getDefiningOp<arith::TruncFOp>();
    if (!rounding) {
      return {};
    }
    rounded = rounding.getType();
    scalar = rounding.getIn();
  }
  auto product = scalar.getDefiningOp<arith::MulFOp>();
  for (unsigned i : {0, 1}) {
    if (!product || !matchPattern(product->getOperand(i), m_Constant(&scale))) {
      continue;
    }
    Value key = product->getOperand(1 - i);
    auto widened = key.getDefiningOp<arith::ExtFOp>();
    bool wasShort = widened && widened.getIn().getType() == rounded;
    return !rounded || wasShort ? key : Value();
  }
  return {};
}

/// Scales scores in place of keys, which then are what memory has and can be
/// copied as such.
static void scaleScores(AttentionForm &form) {
  FloatAttr scale;
  Value key = withoutScale(form.keyFactor, scale);
  if (!key || !key.getType().isF32() || form.scoreMaps.empty()) {
    return;
  }
  for (LoadOp load : llvm::make_early_inc_range(
           form.scoreMaps.front().getBody().getOps<LoadOp>())) {
    if (load.getSource() != form.scores.getResult()) {
      continue;
    }
    OpBuilder builder(load->getBlock(), std::next(load->getIterator()));
    Value factor = arith::ConstantOp::create(builder, load.getLoc(), scale);
    Value scaled =
        arith::MulFOp::create(builder, load.getLoc(), load.getResult(), factor);
    load.getResult().replaceAllUsesExcept(scaled, scaled.getDefiningOp());
  }
  Operation *product = yieldOf(form.scores).getOperand(0).getDefiningOp();
  product->replaceUsesOfWith(form.keyFactor, key);
  form.keyFactor = key;
  simplifyBody(form.scores);
}

namespace {

class FormAttention : public impl::FormAttentionBase<FormAttention> {
public:
  FormAttention(DecisionLog *log, bool isStrict) : log(log) {
    strict = isStrict;
  }

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    RegionNames names;
    for (Block *block : graphBlocks(getOperation())) {
      SmallVector<ReduceOp> reduces(block->getOps<ReduceOp>());
      for (ReduceOp reduce : reduces) {
        runOn(reduce, names, decisions);
      }
    }
  }

private:
  void runOn(ReduceOp reduce, RegionNames &names, Decisions &decisions) {
    const Reason *reason = nullptr;
    inlineWeights(reduce, strict);
    std::optional<AttentionForm> form = matchAttention(reduce, reason);
    if (form && strict && !elementTypeOf(form->weights.getType(0)).isF32()) {
      decisions.refused(reasons::attentionTypes, reduce.getLoc(), "attention");
      return;
    }
    if (!form) {
      if (reason) {
        decisions.refused(*reason, reduce.getLoc(), "attention");
      }
      return;
    }
    Value weights = form->weights.getResult(0);
    unsigned rows = form->max.getParallelRank();
    inlineOperands(form->scores, form->scores.getBody().getArgument(rows),
                   weights, decisions);
    inlineOperands(form->values, form->values.getBody().getArguments().back(),
                   weights, decisions);
    inlineMasks(*form, strict, decisions);
    // With operands that read nothing, it is a contraction no more.
    form = matchAttention(reduce, reason);
    if (!form) {
      decisions.refused(reasons::attentionFactors, reduce.getLoc(),
                        "attention");
      return;
    }
    if (!strict) {
      scaleScores(*form);
    }
    SmallVector<Operation *> members = form->members();
    std::map<std::string, double> numbers{
        {"primitives", static_cast<double>(members.size())}};
    if (std::optional<int64_t> bytes = staticBytes(form->weights.getType(0))) {
      numbers["bytes_saved"] = 4.0 * static_cast<double>(*bytes);
    }
    OpBuilder builder(members.back());
    RegionShape shape;
    shape.form = RegionForm::Attention;
    FusedOp fused = buildRegion(builder, members, shape, names);
    decisions.did(reasons::attentionFormed, fused.getLoc(), fused.getSymName(),
                  numbers);
  }

  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createFormAttentionPass(DecisionLog *log, bool strict) {
  return std::make_unique<FormAttention>(log, strict);
}

} // namespace tilewright
