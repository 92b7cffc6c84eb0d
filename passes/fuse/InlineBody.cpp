//===- InlineBody.cpp - a map's body in place of a load -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/InlineBody.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/ReshapeCoordinates.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

static constexpr StringLiteral castMark = "tw.cast";

//===----------------------------------------------------------------------===//
// Cloning
//===----------------------------------------------------------------------===//

static Value zeroOf(BodyBuilder &body, Type type) {
  return body.constant(type, 0);
}

/// A load of the producer, in force only where `guard` (null: always) is true.
static Value cloneLoad(BodyBuilder &body, LoadOp load, const IRMapping &mapping,
                       Value guard, Value otherwise) {
  SmallVector<Value> indices;
  for (Value index : load.getIndices()) {
    indices.push_back(mapping.lookup(index));
  }
  Value source = mapping.lookupOrDefault(load.getSource());
  if (!load.getGuard()) {
    return guard ? body.load(source, indices, guard, otherwise)
                 : body.load(source, indices);
  }
  return body.load(source, indices,
                   body.both(guard, mapping.lookup(load.getGuard())),
                   mapping.lookup(load.getOtherwise()));
}

void cloneFolded(BodyBuilder &body, Operation &op, IRMapping &mapping) {
  Operation *copy = body.clone(op, mapping);
  SmallVector<Value> folded;
  if (succeeded(body.tryFold(copy, folded)) && !folded.empty()) {
    mapping.map(op.getResults(), ValueRange(folded));
    copy->erase();
  }
}

/// True if two scalars are the same value or the same constant.
static bool sameScalar(Value a, Value b) {
  Attribute left, right;
  return a == b || (matchPattern(a, m_Constant(&left)) &&
                    matchPattern(b, m_Constant(&right)) && left == right);
}

/// The producer's value at `at`, before the guard chooses.
static Value cloneBody(BodyBuilder &body, MapOp producer, unsigned result,
                       ValueRange at, Value guard, Value otherwise,
                       bool &guardIsDone) {
  IRMapping mapping;
  mapping.map(producer.getBody().getArguments(), at);
  Value yielded = yieldOf(producer).getOperand(result);
  guardIsDone = !guard;
  for (Operation &op : producer.getBody().front().without_terminator()) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      // A bare load can take the guard's alternative itself.
      bool isWhole =
          guard && yielded == load.getResult() &&
          (!load.getGuard() ||
           sameScalar(mapping.lookup(load.getOtherwise()), otherwise));
      guardIsDone |= isWhole;
      Value alternative = isWhole ? otherwise
                          : guard ? zeroOf(body, load.getType())
                                  : Value();
      mapping.map(load.getResult(),
                  cloneLoad(body, load, mapping, guard, alternative));
      continue;
    }
    auto clamp = dyn_cast<ClampIndexOp>(op);
    if (clamp && guard) {
      // Outside the guard there is no bad data to report.
      Value index =
          body.select(guard, mapping.lookup(clamp.getIndex()), body.index(0));
      mapping.map(clamp.getResult(),
                  body.createOrFold<ClampIndexOp>(
                      index, mapping.lookup(clamp.getBound())));
      continue;
    }
    cloneFolded(body, op, mapping);
  }
  return mapping.lookup(yielded);
}

/// Uses `value` for `load`; a widening of what was just rounded takes the value
/// before the rounding.
static void replaceLoad(LoadOp load, Value value, bool strict) {
  auto rounding = value.getDefiningOp<arith::TruncFOp>();
  if (rounding && !strict && !rounding->hasAttr(castMark)) {
    for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
      auto widening = dyn_cast<arith::ExtFOp>(user);
      if (widening && widening.getType() == rounding.getIn().getType()) {
        widening.replaceAllUsesWith(rounding.getIn());
        widening.erase();
      }
    }
  }
  load.replaceAllUsesWith(value);
  load.erase();
}

/// The producer's value at `load`, whose guard its loads take over.
static Value cloneGuarded(BodyBuilder &body, MapOp producer, LoadOp load,
                          LoadOp main, TypedAttr padding) {
  IRMapping mapping;
  mapping.map(producer.getBody().getArguments(), load.getIndices());
  for (Operation &op : producer.getBody().front().without_terminator()) {
    auto own = dyn_cast<LoadOp>(op);
    if (!own || readsOneElement(own)) {
      cloneFolded(body, op, mapping);
      continue;
    }
    Value otherwise = own == main ? body.create<arith::ConstantOp>(padding)
                                  : zeroOf(body, own.getType());
    mapping.map(own.getResult(),
                cloneLoad(body, own, mapping, load.getGuard(), otherwise));
  }
  return mapping.lookup(yieldOf(producer).getOperand(0));
}

void inlineProducer(LoadOp load, MapOp producer, bool strict, LoadOp main,
                    TypedAttr padding) {
  BodyBuilder body(load.getLoc(), OpBuilder(load));
  if (load.getGuard() && padding) {
    replaceLoad(load, cloneGuarded(body, producer, load, main, padding),
                strict);
    return;
  }
  unsigned result = cast<OpResult>(load.getSource()).getResultNumber();
  bool guardIsDone = false;
  Value value = cloneBody(body, producer, result, load.getIndices(),
                          load.getGuard(), load.getOtherwise(), guardIsDone);
  if (!guardIsDone) {
    value = body.select(load.getGuard(), value, load.getOtherwise());
  }
  replaceLoad(load, value, strict);
}

//===----------------------------------------------------------------------===//
// Constants and reshapes
//===----------------------------------------------------------------------===//

bool inlineConstant(LoadOp load) {
  auto constant = load.getSource().getDefiningOp<ConstantOp>();
  TypedAttr element = constant ? uniformElement(constant) : TypedAttr();
  if (!element) {
    return false;
  }
  BodyBuilder body(load.getLoc(), OpBuilder(load));
  Type type = load.getType();
  TypedAttr scalar;
  if (isa<FloatType>(type)) {
    scalar = FloatAttr::get(type, cast<FloatAttr>(element).getValue());
  } else {
    scalar = IntegerAttr::get(type, cast<IntegerAttr>(element).getValue());
  }
  Value value = body.create<arith::ConstantOp>(scalar);
  if (load.getGuard()) {
    value = body.select(load.getGuard(), value, load.getOtherwise());
  }
  replaceLoad(load, value, /*strict=*/true);
  return true;
}

void skipReshapes(ReshapeOp reshape) {
  while (auto inner = reshape ? reshape.getSource().getDefiningOp<ReshapeOp>()
                              : ReshapeOp()) {
    reshape.getSourceMutable().assign(inner.getSource());
  }
}

bool readThroughReshape(LoadOp load, bool allowDivision) {
  auto reshape = load.getSource().getDefiningOp<ReshapeOp>();
  if (!reshape) {
    return false;
  }
  BodyBuilder body(load.getLoc(), OpBuilder(load));
  std::optional<SmallVector<Value>> indices = coordinatesBehindReshape(
      body, dimsOf(reshape.getSource().getType()), dimsOf(reshape.getType()),
      load.getIndices(), allowDivision);
  if (!indices) {
    return false;
  }
  Value value = load.getGuard()
                    ? body.load(reshape.getSource(), *indices, load.getGuard(),
                                load.getOtherwise())
                    : body.load(reshape.getSource(), *indices);
  replaceLoad(load, value, /*strict=*/true);
  return true;
}

//===----------------------------------------------------------------------===//
// Bodies as a whole
//===----------------------------------------------------------------------===//

/// A coordinate clamped to its own range is itself: what broadcasting of sizes
/// that turned out equal leaves behind.
static void foldClamps(Operation *primitive) {
  SmallVector<DimExpr> domain = domainOf(primitive);
  for (auto clamp : primitive->getRegion(0).getOps<arith::MinSIOp>()) {
    auto coordinate = dyn_cast<BlockArgument>(clamp.getLhs());
    auto limit = clamp.getRhs().getDefiningOp<SizeOp>();
    if (coordinate && limit &&
        (DimExpr(limit.getSize()) - (domain[coordinate.getArgNumber()] - 1))
            .isNonNegative()) {
      clamp.replaceAllUsesWith(clamp.getLhs());
    }
  }
}

/// True for a clamp of a constant that lies inside.
static bool isInside(ClampIndexOp clamp) {
  std::optional<int64_t> index = getConstantIntValue(clamp.getIndex());
  std::optional<int64_t> bound = getConstantIntValue(clamp.getBound());
  return index && bound && *index >= 0 && *index < *bound;
}

/// Folds what inlined constants made constant.
static void foldOperations(Operation *primitive) {
  Block &body = primitive->getRegion(0).front();
  SmallVector<Operation *> operations(
      llvm::make_pointer_range(body.without_terminator()));
  for (Operation *op : operations) {
    auto clamp = dyn_cast<ClampIndexOp>(op);
    if (clamp && isInside(clamp)) {
      clamp.replaceAllUsesWith(clamp.getIndex());
      continue;
    }
    OpBuilder builder(op);
    SmallVector<Value> folded;
    if (succeeded(builder.tryFold(op, folded)) && !folded.empty()) {
      op->replaceAllUsesWith(folded);
    }
  }
}

void simplifyBody(Operation *primitive) {
  foldOperations(primitive);
  foldClamps(primitive);
  IRRewriter rewriter(primitive->getContext());
  DominanceInfo dominance(primitive);
  eliminateCommonSubExpressions(rewriter, dominance, primitive);
  Block &body = primitive->getRegion(0).front();
  SmallVector<Operation *> operations(
      llvm::make_pointer_range(body.without_terminator()));
  for (Operation *op : llvm::reverse(operations)) {
    if (isOpTriviallyDead(op)) {
      op->erase();
    }
  }
}

void markCasts(Operation *primitive) {
  primitive->getRegion(0).walk([](arith::TruncFOp rounding) {
    if (rounding.getIn().getDefiningOp<LoadOp>()) {
      rounding->setAttr(castMark, UnitAttr::get(rounding.getContext()));
    }
  });
}

void unmarkCasts(Operation *primitive) {
  primitive->getRegion(0).walk(
      [](arith::TruncFOp rounding) { rounding->removeAttr(castMark); });
}

} // namespace tilewright
