//===- AttentionForm.cpp - softmax between two contractions ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/AttentionForm.h"
#include "mlir/IR/Matchers.h"
#include "passes/fuse/Access.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// What a widening to f32 or a rounding to 16 bits, or both, were made of.
static Value plainScalar(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op)) {
    scalar = op->getOperand(0);
    op = scalar.getDefiningOp();
  }
  return scalar;
}

/// The tensor that `scalar` is an element of, if it is read at the coordinates
/// of its primitive and `op` computes it in the same block.
template <typename Op> static Op readFrom(Value scalar) {
  auto load = plainScalar(scalar).getDefiningOp<LoadOp>();
  if (!load || !readsAtOwnCoordinates(load)) {
    return {};
  }
  auto source = load.getSource().getDefiningOp<Op>();
  return source && source->getBlock() == primitiveOf(load)->getBlock() &&
                 source->getNumResults() == 1
             ? source
             : Op();
}

static std::optional<Exponential> matchInBody(Value scalar) {
  auto exp = scalar.getDefiningOp<math::ExpOp>();
  auto difference =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  if (!difference || !scalar.getType().isF32()) {
    return std::nullopt;
  }
  auto score = plainScalar(difference.getLhs()).getDefiningOp<LoadOp>();
  auto max = readFrom<ReduceOp>(difference.getRhs());
  if (!score || !readsAtOwnCoordinates(score) || !max ||
      max.getKind() != FoldKind::Max) {
    return std::nullopt;
  }
  Exponential result;
  result.score = score.getSource();
  result.max = max.getResult();
  result.scalar = scalar;
  result.computedIn = exp->getParentOp();
  return result;
}

/// exp(score − max), computed here or read at its own coordinates.
static std::optional<Exponential> matchExponential(Value scalar) {
  if (std::optional<Exponential> here = matchInBody(scalar)) {
    return here;
  }
  MapOp map = readFrom<MapOp>(scalar);
  std::optional<Exponential> there =
      map ? matchInBody(yieldOf(map).getOperand(0)) : std::nullopt;
  if (there) {
    there->map = map;
  }
  return there;
}

SmallVector<Operation *> AttentionForm::members() const {
  llvm::SmallPtrSet<Operation *, 16> all{scores, max, sum, values, weights};
  all.insert(scoreMaps.begin(), scoreMaps.end());
  all.insert(rowMaps.begin(), rowMaps.end());
  all.insert(epilogue.begin(), epilogue.end());
  if (exponential.map) {
    all.insert(exponential.map);
  }
  SmallVector<Operation *> sorted(all.begin(), all.end());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

//===----------------------------------------------------------------------===//
// The match
//===----------------------------------------------------------------------===//

namespace {

/// Walks from `values` up. Steps return false when there is no match, and set
/// `reason` when what is there looks like attention.
class Matcher {
public:
  explicit Matcher(const Reason *&reason) : reason(reason) {}

  bool run(ReduceOp values) {
    form.values = values;
    return matchWeights() && matchScale() && matchSum() && matchMax() &&
           matchScores() && matchFactors() && matchRows() && matchEpilogue() &&
           staysInside();
  }

  AttentionForm form;

private:
  bool refuse(const Reason &why) {
    reason = &why;
    return false;
  }

  /// The last axis of the score's domain counts the keys.
  unsigned rowCount() { return form.max.getParallelRank(); }

  bool matchWeights();
  Value matchCleared(Value scalar);
  bool matchScale();
  bool matchPart(Value weight);
  bool matchSum();
  bool matchMax();
  bool matchScores();
  bool matchFactors();
  bool matchRows();
  bool matchEpilogue();
  bool staysInside();
  bool collectRowMaps(Operation *body, Value scalar);
  ReduceOp scoresBehind(Value tensor);

  const Reason *&reason;
};

} // namespace

/// One factor is a map's result, read at a row's coordinates and the key's.
bool Matcher::matchWeights() {
  ReduceOp values = form.values;
  if (!isContraction(values) || values.getExtents().getDims().size() != 1) {
    return false;
  }
  BlockArgument key = values.getBody().getArguments().back();
  Operation *product = yieldOf(values).getOperand(0).getDefiningOp();
  for (unsigned i : {0, 1}) {
    auto load = plainScalar(product->getOperand(i)).getDefiningOp<LoadOp>();
    auto map = load ? load.getSource().getDefiningOp<MapOp>() : MapOp();
    bool readsRows =
        map && !load.getGuard() && map->getNumResults() == 1 &&
        map->getBlock() == values->getBlock() && !load.getIndices().empty() &&
        load.getIndices().back() == key &&
        llvm::all_of(load.getIndices(), llvm::IsaPred<BlockArgument>);
    if (!readsRows) {
      continue;
    }
    form.weights = map;
    form.valueFactor = product->getOperand(1 - i);
    for (Value index : load.getIndices().drop_back()) {
      unsigned axis = cast<BlockArgument>(index).getArgNumber();
      if (axis == key.getArgNumber() ||
          llvm::is_contained(form.rowAxes, axis)) {
        return false;
      }
      form.rowAxes.push_back(axis);
    }
    return true;
  }
  return false;
}

static bool isZero(Value scalar) {
  FloatAttr constant;
  return matchPattern(scalar, m_Constant(&constant)) &&
         constant.getValue().isPosZero();
}

/// The scalar behind a selection of zero for whole rows.
Value Matcher::matchCleared(Value scalar) {
  auto select = scalar.getDefiningOp<arith::SelectOp>();
  if (!select) {
    return scalar;
  }
  Value key = form.weights.getBody().getArguments().back();
  bool isFirst = isZero(select.getTrueValue());
  if (!(isFirst || isZero(select.getFalseValue())) ||
      coordinatesOf(select.getCondition()).contains(key)) {
    return scalar;
  }
  form.cleared = select.getCondition();
  form.clearsWhere = isFirst;
  return isFirst ? select.getFalseValue() : select.getTrueValue();
}

/// The weights of a part are the exponential. The sum, which they do not read,
/// is of the same.
bool Matcher::matchPart(Value weight) {
  auto found = matchExponential(weight);
  if (!found || !isa<FusedOp>(form.values->getParentOp())) {
    return false;
  }
  form.exponential = *found;
  form.max = found->max.getDefiningOp<ReduceOp>();
  for (auto reduce : form.values->getBlock()->getOps<ReduceOp>()) {
    auto own = matchExponential(yieldOf(reduce).getOperand(0));
    if (reduce.getKind() == FoldKind::Add && own && own->max == found->max) {
      form.sum = reduce;
    }
  }
  return form.sum != nullptr;
}

/// The weights are the exponential over, or times, a function of the row.
bool Matcher::matchScale() {
  if (matchPart(plainScalar(yieldOf(form.weights).getOperand(0)))) {
    return true;
  }
  Operation *scale =
      plainScalar(
          matchCleared(plainScalar(yieldOf(form.weights).getOperand(0))))
          .getDefiningOp();
  if (!isa_and_nonnull<arith::DivFOp, arith::MulFOp>(scale)) {
    return false;
  }
  for (unsigned i : {0, 1}) {
    if (i == 1 && isa<arith::DivFOp>(scale)) {
      break;
    }
    if (auto found = matchExponential(scale->getOperand(i))) {
      form.exponential = *found;
      form.scale = scale;
      form.denominator = scale->getOperand(1 - i);
      form.max = found->max.getDefiningOp<ReduceOp>();
      return true;
    }
  }
  return false;
}

/// Collects the maps over rows between the sum and `scalar`, and the sum.
bool Matcher::collectRowMaps(Operation *body, Value scalar) {
  llvm::SetVector<Value> reached;
  reached.insert(scalar);
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i].getDefiningOp();
    auto load = dyn_cast_or_null<LoadOp>(op);
    if (!load) {
      if (op) {
        reached.insert(op->operand_begin(), op->operand_end());
      } else if (reached[i] == body->getRegion(0).getArguments().back() &&
                 body == form.weights) {
        return false; // it varies along the row
      }
      continue;
    }
    if (auto sum = readFrom<ReduceOp>(load); sum && sum != form.max) {
      if (form.sum && form.sum != sum) {
        return false;
      }
      form.sum = sum;
    } else if (MapOp map = readFrom<MapOp>(load)) {
      if (map.getDomain().size() != rowCount() ||
          !collectRowMaps(map, yieldOf(map).getOperand(0))) {
        return false;
      }
      if (!llvm::is_contained(form.rowMaps, map)) {
        form.rowMaps.push_back(map);
      }
    } else {
      return false;
    }
  }
  return true;
}

bool Matcher::matchSum() {
  if (!form.isPart() &&
      (!collectRowMaps(form.weights, form.denominator) || !form.sum)) {
    return refuse(reasons::attentionScale);
  }
  ReduceOp sum = form.sum;
  auto found = matchExponential(yieldOf(sum).getOperand(0));
  if (sum.getKind() != FoldKind::Add || !found ||
      found->score != form.score() || found->max != form.exponential.max ||
      found->map != form.exponential.map ||
      sum.getDomain() != form.max.getDomain() ||
      sum.getParallelRank() != rowCount()) {
    return refuse(reasons::attentionScale);
  }
  form.exponential = *found;
  return true;
}

bool Matcher::matchMax() {
  ReduceOp max = form.max;
  auto load = plainScalar(yieldOf(max).getOperand(0)).getDefiningOp<LoadOp>();
  bool isOfScore = load && load.getSource() == form.score() &&
                   readsAtOwnCoordinates(load) &&
                   max.getExtents().getDims().size() == 1 &&
                   max.getDomain() == form.weights.getDomain() &&
                   form.rowAxes.size() == rowCount();
  if (!isOfScore) {
    return refuse(reasons::attentionScale);
  }
  return true;
}

/// The contraction behind a chain of maps that read each other at their own
/// coordinates, the maps collected in order.
ReduceOp Matcher::scoresBehind(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || op->getBlock() != form.values->getBlock()) {
    return {};
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    return isContraction(reduce) && reduce.getParallelRank() == rowCount() + 1
               ? reduce
               : ReduceOp();
  }
  auto map = dyn_cast<MapOp>(op);
  if (!map || map->getNumResults() != 1 ||
      map.getDomain().size() != rowCount() + 1) {
    return {};
  }
  for (LoadOp load : map.getBody().getOps<LoadOp>()) {
    if (!readsAtOwnCoordinates(load)) {
      continue;
    }
    if (ReduceOp scores = scoresBehind(load.getSource())) {
      form.scoreMaps.push_back(map);
      return scores;
    }
  }
  return {};
}

bool Matcher::matchScores() {
  form.scores = scoresBehind(form.score());
  if (!form.scores) {
    return refuse(reasons::attentionNoScores);
  }
  // The chain is one of maps that each read the one before: another way to the
  // scores would need a member that is not in it.
  ReduceOp scores = form.scores;
  if (scores.getExtents().getDims().size() != 1) {
    return refuse(reasons::attentionFactors);
  }
  return true;
}

bool Matcher::matchFactors() {
  ReduceOp scores = form.scores, values = form.values;
  Operation *product = yieldOf(scores).getOperand(0).getDefiningOp();
  Value key = scores.getBody().getArgument(rowCount());
  Value a = product->getOperand(0), b = product->getOperand(1);
  bool aHasKey = coordinatesOf(a).contains(key),
       bHasKey = coordinatesOf(b).contains(key);
  if (aHasKey == bHasKey) {
    return refuse(reasons::attentionFactors);
  }
  form.keyFactor = aHasKey ? a : b;
  form.queryFactor = aHasKey ? b : a;
  bool areFloats = product->getResult(0).getType().isF32() &&
                   form.valueFactor.getType().isF32();
  // Scores and weights may be rounded to 16 bits.
  for (Operation *op : form.members()) {
    Type type = elementTypeOf(op->getResult(0).getType());
    bool mayBeShort =
        llvm::is_contained(form.scoreMaps, op) || op == form.weights;
    areFloats &= type.isF32() || llvm::is_contained(form.epilogue, op) ||
                 (mayBeShort && (type.isF16() || type.isBF16()));
  }
  return areFloats || refuse(reasons::attentionTypes);
}

/// Which axis of the result is whose.
bool Matcher::matchRows() {
  ReduceOp values = form.values, scores = form.scores;
  if (values.getParallelRank() != rowCount() + 1) {
    return refuse(reasons::attentionFactors);
  }
  SmallVector<DimExpr> dims = dimsOf(values.getType()),
                       rows = form.max.getDomain();
  auto ofKeys = coordinatesOf(form.keyFactor),
       ofValues = coordinatesOf(form.valueFactor);
  for (auto [row, axis] : llvm::enumerate(form.rowAxes)) {
    if (dims[axis] != rows[row]) {
      return refuse(reasons::attentionFactors);
    }
    bool isShared = !ofKeys.contains(scores.getBody().getArgument(row)) &&
                    !ofValues.contains(values.getBody().getArgument(axis));
    if (isShared) {
      form.queryAxis = row;
    }
  }
  while (llvm::is_contained(form.rowAxes, form.valueAxis)) {
    ++form.valueAxis;
  }
  return true;
}

/// Maps that alone read the result, where it is.
bool Matcher::matchEpilogue() {
  Operation *last = form.values;
  while (countReaders(last) == 1) {
    auto load = dyn_cast<LoadOp>(*last->getUsers().begin());
    auto map = load ? dyn_cast<MapOp>(primitiveOf(load)) : MapOp();
    bool follows = map && map->getBlock() == last->getBlock() &&
                   map->getNumResults() == 1 &&
                   map.getDomain() == dimsOf(last->getResult(0).getType()) &&
                   llvm::all_of(last->getUsers(), [](Operation *user) {
                     return readsAtOwnCoordinates(cast<LoadOp>(user));
                   });
    if (!follows) {
      break;
    }
    form.epilogue.push_back(map);
    last = map;
  }
  return true;
}

/// Nothing but the end is read from outside, and what is read inside is read at
/// its own coordinates, by what comes later.
bool Matcher::staysInside() {
  SmallVector<Operation *> members = form.members();
  llvm::SmallPtrSet<Operation *, 16> set(members.begin(), members.end());
  Operation *last = form.epilogue.empty() ? form.values.getOperation()
                                          : form.epilogue.back().getOperation();
  for (Operation *member : members) {
    for (Operation *user : member->getUsers()) {
      auto load = dyn_cast<LoadOp>(user);
      bool isInside = load && set.contains(primitiveOf(load));
      bool isWeightsRead = isInside && primitiveOf(load) == form.values &&
                           member == form.weights;
      bool isResult = form.isPart() && isa<YieldOp>(user) &&
                      (member == form.max || member == form.sum);
      if (isResult) {
        continue;
      }
      if (!isInside && member != last) {
        return refuse(reasons::attentionKept);
      }
      if (isInside && !isWeightsRead && !readsAtOwnCoordinates(load)) {
        return refuse(reasons::attentionScale);
      }
    }
  }
  return true;
}

std::optional<AttentionForm> matchAttention(ReduceOp values,
                                            const Reason *&reason) {
  reason = nullptr;
  Matcher matcher(reason);
  if (!matcher.run(values)) {
    return std::nullopt;
  }
  return matcher.form;
}

} // namespace tilewright
