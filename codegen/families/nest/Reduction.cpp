//===- Reduction.cpp - loops that fold a body -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/ReductionEmitter.h"
#include "codegen/families/rows/Team.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

Value fold(LaneBuilder &b, FoldKind kind, bool isUnsigned, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  // Putting -0 before 0 would take three more instructions for each vector.
  constexpr auto zeros = arith::FastMathFlags::nsz;
  switch (kind) {
  case FoldKind::Add:
    return isFloat ? Value(b.create<arith::AddFOp>(x, y))
                   : b.create<arith::AddIOp>(x, y);
  case FoldKind::Mul:
    return isFloat ? Value(b.create<arith::MulFOp>(x, y))
                   : b.create<arith::MulIOp>(x, y);
  case FoldKind::Max:
  case FoldKind::ArgMax:
  case FoldKind::ArgMaxLast:
    return isFloat      ? Value(b.create<arith::MaximumFOp>(x, y, zeros))
           : isUnsigned ? Value(b.create<arith::MaxUIOp>(x, y))
                        : Value(b.create<arith::MaxSIOp>(x, y));
  case FoldKind::Min:
  case FoldKind::ArgMin:
  case FoldKind::ArgMinLast:
    return isFloat      ? Value(b.create<arith::MinimumFOp>(x, y, zeros))
           : isUnsigned ? Value(b.create<arith::MinUIOp>(x, y))
                        : Value(b.create<arith::MinSIOp>(x, y));
  case FoldKind::And:
    return b.create<arith::AndIOp>(x, y);
  case FoldKind::Or:
    return b.create<arith::OrIOp>(x, y);
  case FoldKind::Assign:
    break;
  }
  return y;
}

TypedAttr identityOf(FoldKind kind, Type type, bool isUnsigned) {
  bool isMax = kind == FoldKind::Max || kind == FoldKind::ArgMax ||
               kind == FoldKind::ArgMaxLast;
  bool isMin = kind == FoldKind::Min || kind == FoldKind::ArgMin ||
               kind == FoldKind::ArgMinLast;
  if (auto real = dyn_cast<FloatType>(type)) {
    if (isMax || isMin) {
      return FloatAttr::get(
          type, APFloat::getInf(real.getFloatSemantics(), /*Negative=*/isMax));
    }
    return FloatAttr::get(type, kind == FoldKind::Mul ? 1.0 : 0.0);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(width);
  if (isMax) {
    value =
        isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  } else if (isMin) {
    value = isUnsigned ? APInt::getMaxValue(width)
                       : APInt::getSignedMaxValue(width);
  } else if (kind == FoldKind::Mul) {
    value = APInt(width, 1);
  } else if (kind == FoldKind::And) {
    value = APInt::getAllOnes(width);
  }
  return IntegerAttr::get(type, value);
}

/// Short loops are written out while the code stays this small.
constexpr int64_t mostUnrolledSteps = 64, mostUnrolledBodies = 256;
/// Steps of a long innermost loop in one iteration.
constexpr int64_t innerSteps = 4;

Status ReductionEmitter::prepare() {
  Type yielded = yieldOf(reduce).getOperand(0).getType();
  accumulator = bodyType(yielded);
  if (accumulator != yielded) {
    return Status(ErrorCode::UnsupportedType,
                  "a reduction cannot fold 8-bit or 4-bit floats");
  }
  if (isa<FloatType>(accumulator)) {
    Type least = plan.wide && !reduce.isArg() ? Type(b.getF64Type())
                                              : Type(b.getF32Type());
    if (accumulator.getIntOrFloatBitWidth() < least.getIntOrFloatBitWidth()) {
      accumulator = least;
    }
  }
  unrolledFrom = plan.axes.size();
  // NVRTC unrolls on its own, but does not see what copies share.
  if (plan.innerWidth == 1 &&
      (!frame.isSimt() || (copies.size() > 1 && frame.teamSize() == 1))) {
    int64_t steps = 1;
    while (unrolledFrom > 0) {
      std::optional<int64_t> extent =
          plan.axes[unrolledFrom - 1].extent.getConstant();
      if (!extent || *extent > mostUnrolledSteps ||
          steps * *extent > mostUnrolledSteps ||
          steps * *extent * static_cast<int64_t>(copies.size()) >
              mostUnrolledBodies) {
        break;
      }
      steps *= *extent;
      --unrolledFrom;
    }
  }
  isUnsignedFold =
      accumulator.isInteger(1) ||
      (!reduce.isArg() && tw::isUnsigned(elementTypeOf(reduce.getType())));
  return Status::ok();
}

SmallVector<Value> ReductionEmitter::initial(int64_t width) {
  auto constant = [&](TypedAttr value) -> Value {
    if (width > 1) {
      value = DenseElementsAttr::get(VectorType::get({width}, value.getType()),
                                     ArrayRef<Attribute>(value));
    }
    return b.create<arith::ConstantOp>(value);
  };
  Value start =
      constant(identityOf(reduce.getKind(), accumulator, isUnsignedFold));
  SmallVector<Value> result(copies.size(), start);
  if (reduce.isArg()) {
    result.append(copies.size(), constant(b.getI64IntegerAttr(0)));
  }
  return result;
}

Result<SmallVector<Value>>
ReductionEmitter::loop(unsigned axis, ArrayRef<Value> accumulators) {
  bool hasRuns = !plan.guards.empty() && !plan.guards.isShort;
  if (hasRuns && axis == plan.guards.plainFrom && !isDecided && !isInside) {
    return guardedRun(axis, accumulators);
  }
  if (axis == plan.axes.size()) {
    return step(accumulators, Value());
  }
  bool isOpen = plan.guards.empty() || isInside ||
                (plan.guards.isMask && frame.getTarget().hasMaskedOps);
  if (axis >= unrolledFrom && isOpen) {
    BodyEmitter emitter = makeEmitter(activeLanes);
    return unrolledLoops(axis, emitter, SmallVector<Value>(accumulators));
  }
  const TileAxis &own = plan.axes[axis];
  if (axis + 1 == plan.axes.size()) {
    return plan.innerWidth > 1 ? innerVectorLoop(own, accumulators)
                               : innermostLoop(own, accumulators);
  }
  return forLoop(b.constantIndex(0), frame.sizeValue(own.extent), 1,
                 accumulators, [&](Value position, ArrayRef<Value> carried) {
                   coordinates[own.last] = Lanes::index(position);
                   return loop(axis + 1, carried);
                 });
}

/// Steps at constant coordinates, in one block: what they have in common is
/// loaded once.
Result<SmallVector<Value>>
ReductionEmitter::unrolledLoops(unsigned axis, BodyEmitter &emitter,
                                SmallVector<Value> accumulators) {
  if (axis == plan.axes.size()) {
    return step(emitter, accumulators, Value());
  }
  const TileAxis &own = plan.axes[axis];
  for (int64_t i = 0; i < *own.extent.getConstant(); ++i) {
    coordinates[own.last] = Lanes::index(i);
    Result<SmallVector<Value>> next =
        unrolledLoops(axis + 1, emitter, accumulators);
    TW_RETURN_IF_ERROR(next.status());
    accumulators = std::move(*next);
  }
  return accumulators;
}

/// Several steps per iteration, then the rest one by one.
Result<SmallVector<Value>>
ReductionEmitter::innermostLoop(const TileAxis &axis,
                                ArrayRef<Value> accumulators) {
  std::optional<int64_t> extent = axis.extent.getConstant();
  bool isOpen = plan.guards.empty() || isInside || !padded.empty();
  int64_t steps = isOpen && !reduce.isArg() && !frame.isSimt() ? innerSteps : 1;
  while (extent && steps > 1 && *extent % steps != 0) {
    steps /= 2;
  }
  bool hasTeam = frame.teamSize() > 1;
  auto run = [&](Value from, Value to, int64_t count,
                 ArrayRef<Value> carriedIn) {
    return forLoop(from, to, count, carriedIn,
                   [&](Value position,
                       ArrayRef<Value> carried) -> Result<SmallVector<Value>> {
                     BodyEmitter emitter = makeEmitter(activeLanes);
                     SmallVector<Value> values(carried);
                     for (int64_t i = 0; i < (hasTeam ? 1 : count); ++i) {
                       coordinates[axis.last] =
                           b.add(Lanes::index(position), Lanes::index(i));
                       Result<SmallVector<Value>> next =
                           step(emitter, values, Value());
                       TW_RETURN_IF_ERROR(next.status());
                       values = std::move(*next);
                     }
                     return values;
                   });
  };
  Value zero = b.constantIndex(0), end = frame.sizeValue(axis.extent);
  if (hasTeam) {
    return run(frame.laneOfResult(), end, frame.lanesOfResult(), accumulators);
  }
  if (extent || steps == 1) {
    return run(zero, end, steps, accumulators);
  }
  Value rest = b.create<arith::RemUIOp>(end, b.constantIndex(steps));
  Value mainEnd = b.create<arith::SubIOp>(end, rest);
  Result<SmallVector<Value>> main = run(zero, mainEnd, steps, accumulators);
  TW_RETURN_IF_ERROR(main.status());
  return run(mainEnd, end, 1, *main);
}

/// Vectors along the innermost axis, then its tail: one masked step, or
/// scalars of their own where the machine has no masks. The accumulators are
/// the vectors, then those scalars. A team's threads take vectors in turn.
Result<SmallVector<Value>>
ReductionEmitter::innerVectorLoop(const TileAxis &axis,
                                  ArrayRef<Value> accumulators) {
  int64_t width = plan.innerWidth;
  size_t count = copies.size();
  std::optional<int64_t> extent = axis.extent.getConstant();
  Value end = frame.sizeValue(axis.extent);
  Lanes blocks =
      b.floorDiv(Lanes(frame.size(axis.extent)), Lanes::index(width));
  Value mainEnd = b.first(b.mul(blocks, Lanes::index(width)));
  SmallVector<Value> vectors(accumulators.take_front(count));
  SmallVector<Value> scalars(accumulators.drop_front(count));
  bool hasTeam = frame.teamSize() > 1;
  int64_t threads = hasTeam ? frame.lanesOfResult() : 1;
  Value first = hasTeam ? frame.laneOfResult() : b.constantIndex(0);
  if (!extent || *extent >= width) {
    Value start =
        hasTeam ? Value(b.create<arith::MulIOp>(first, b.constantIndex(width)))
                : first;
    Result<SmallVector<Value>> main =
        forLoop(start, mainEnd, width * threads, vectors,
                [&](Value position, ArrayRef<Value> carried) {
                  coordinates[axis.last] = Lanes::coordinate(position, width);
                  return step(carried, Value());
                });
    TW_RETURN_IF_ERROR(main.status());
    vectors = *main;
  }
  if (extent && *extent % width == 0) {
    llvm::append_range(vectors, scalars);
    return vectors;
  }
  if (!scalars.empty()) {
    b.setWidth(1);
    Value start =
        hasTeam ? Value(b.create<arith::AddIOp>(mainEnd, first)) : mainEnd;
    Result<SmallVector<Value>> tail =
        forLoop(start, end, threads, scalars,
                [&](Value position, ArrayRef<Value> carried) {
                  coordinates[axis.last] = Lanes::index(position);
                  return step(carried, Value());
                });
    b.setWidth(width);
    TW_RETURN_IF_ERROR(tail.status());
    llvm::append_range(vectors, *tail);
    return vectors;
  }
  Value left = b.create<arith::SubIOp>(end, mainEnd);
  Value mask = b.create<vector::CreateMaskOp>(b.vectorOf(b.getI1Type()), left);
  coordinates[axis.last] = Lanes::coordinate(mainEnd, width);
  return step(vectors, mask);
}

Value ReductionEmitter::widen(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type == accumulator || !isa<FloatType>(type)) {
    return value;
  }
  Type wide = isa<VectorType>(value.getType()) ? Type(b.vectorOf(accumulator))
                                               : accumulator;
  return b.create<arith::ExtFOp>(wide, value);
}

/// A factor of the step for the copy emitted last.
Value ReductionEmitter::factor(BodyEmitter &emitter, Value scalar) {
  bool isPacked = plan.panel && plan.panel->factors.panel == scalar;
  return widen(isPacked ? packed : lanesOf(emitter.get(scalar)));
}

/// The packed panel's factor of the step.
Value ReductionEmitter::loadPanel() {
  const PackedPanel &panel = *plan.panel;
  Lanes offset = b.mul(stepNumber(frame, plan.axes, coordinates),
                       Lanes::index(panel.width));
  Lanes lane = panel.lane ? Lanes::index(panel.lane) : Lanes::index(0);
  if (isVector()) {
    lane = Lanes::coordinate(b.first(lane), panel.width);
  }
  return loadLanes(frame, panel.memory, b.add(offset, lane), {}).value;
}

Value ReductionEmitter::accumulate(BodyEmitter &emitter, Value sum) {
  if (!product) {
    Value value = widen(lanesOf(emitter.get(yieldOf(reduce).getOperand(0))));
    return fold(b, reduce.getKind(), isUnsignedFold, sum, value);
  }
  Value x = factor(emitter, product->getOperand(0));
  Value y = factor(emitter, product->getOperand(1));
  if (!isa<FloatType>(accumulator)) {
    return b.create<arith::AddIOp>(sum, b.create<arith::MulIOp>(x, y));
  }
  if (frame.getTarget().hasFma && !plan.wide) {
    return b.create<math::FmaOp>(x, y, sum);
  }
  return b.create<arith::AddFOp>(sum, b.create<arith::MulFOp>(x, y));
}

std::pair<Value, Value> ReductionEmitter::accumulateArg(BodyEmitter &emitter,
                                                        Value best,
                                                        Value position) {
  FoldKind kind = reduce.getKind();
  bool isMax = kind == FoldKind::ArgMax || kind == FoldKind::ArgMaxLast;
  bool takesLast = kind == FoldKind::ArgMaxLast || kind == FoldKind::ArgMinLast;
  Value value = widen(lanesOf(emitter.get(yieldOf(reduce).getOperand(0))));
  Value wins;
  if (isa<FloatType>(accumulator)) {
    using P = arith::CmpFPredicate;
    P ordered =
        isMax ? (takesLast ? P::OGE : P::OGT) : (takesLast ? P::OLE : P::OLT);
    wins = b.create<arith::CmpFOp>(ordered, value, best);
    Value isNan = b.create<arith::CmpFOp>(P::UNO, value, value);
    if (!takesLast) {
      Value bestIsNumber = b.create<arith::CmpFOp>(P::ORD, best, best);
      isNan = b.create<arith::AndIOp>(isNan, bestIsNumber);
    }
    wins = b.create<arith::OrIOp>(wins, isNan);
  } else {
    using P = arith::CmpIPredicate;
    P predicate = isUnsignedFold ? (isMax ? (takesLast ? P::uge : P::ugt)
                                          : (takesLast ? P::ule : P::ult))
                                 : (isMax ? (takesLast ? P::sge : P::sgt)
                                          : (takesLast ? P::sle : P::slt));
    wins = b.create<arith::CmpIOp>(predicate, value, best);
  }
  SmallVector<DimExpr> extents = reduce.getExtents().getDims();
  Lanes own = Lanes::index(0);
  for (auto [coordinate, extent] : llvm::zip(coordinates, extents)) {
    own = b.add(b.mul(own, frame.size(extent)), coordinate);
  }
  Value here = b.create<arith::IndexCastOp>(b.getI64Type(), b.first(own));
  if (isVector()) {
    here = b.splat(here);
  }
  return {b.create<arith::SelectOp>(wins, value, best),
          b.create<arith::SelectOp>(wins, here, position)};
}

Result<SmallVector<Value>> ReductionEmitter::step(ArrayRef<Value> accumulators,
                                                  Value mask) {
  BodyEmitter emitter = makeEmitter(mask ? mask : activeLanes);
  return step(emitter, accumulators, mask);
}

Result<SmallVector<Value>> ReductionEmitter::step(BodyEmitter &emitter,
                                                  ArrayRef<Value> accumulators,
                                                  Value mask) {
  size_t count = copies.size();
  SmallVector<Value> results(accumulators);
  packed = plan.panel ? loadPanel() : Value();
  for (size_t copy = 0; copy < count; ++copy) {
    SmallVector<Lanes> all(copies[copy]);
    llvm::append_range(all, coordinates);
    TW_RETURN_IF_ERROR(emitter.emit(copy, all, product));
    if (reduce.isArg()) {
      std::tie(results[copy], results[count + copy]) = accumulateArg(
          emitter, accumulators[copy], accumulators[count + copy]);
      continue;
    }
    Value sum = accumulate(emitter, accumulators[copy]);
    results[copy] =
        mask ? Value(b.create<arith::SelectOp>(mask, sum, accumulators[copy]))
             : sum;
  }
  return results;
}

/// Folds the lanes of a vector pairwise.
Value ReductionEmitter::across(Value vector) {
  for (int64_t half = plan.innerWidth / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < half; ++lane) {
      low.push_back(lane);
      high.push_back(half + lane);
    }
    Value x = b.create<vector::ShuffleOp>(vector, vector, low);
    Value y = b.create<vector::ShuffleOp>(vector, vector, high);
    vector = fold(b, reduce.getKind(), isUnsignedFold, x, y);
  }
  return b.create<vector::ExtractOp>(vector, ArrayRef<int64_t>{0});
}

/// Folds what the threads of a team have got: scalars, or vectors whose lanes
/// are results of their own. Shuffles take 32 and 64 bits.
void ReductionEmitter::acrossTeam(SmallVectorImpl<Value> &values) {
  Type type = getElementTypeOrSelf(values.front().getType());
  bool isNarrow = type.getIntOrFloatBitWidth() < 32;
  SmallVector<Value> parts;
  for (Value value : values) {
    auto vector = dyn_cast<VectorType>(value.getType());
    for (int64_t i = 0; i < (vector ? vector.getNumElements() : 1); ++i) {
      Value part =
          vector ? b.create<vector::ExtractOp>(value, ArrayRef<int64_t>{i})
                 : value;
      if (isNarrow) {
        part = isUnsignedFold
                   ? Value(b.create<arith::ExtUIOp>(b.getI32Type(), part))
                   : Value(b.create<arith::ExtSIOp>(b.getI32Type(), part));
      }
      parts.push_back(part);
    }
  }
  parts = foldTeam(frame, parts, [&](Value x, Value y) {
    return fold(b, reduce.getKind(), isUnsignedFold, x, y);
  });
  for (Value &part : parts) {
    part = isNarrow ? Value(b.create<arith::TruncIOp>(type, part)) : part;
  }
  ArrayRef<Value> rest = parts;
  for (Value &value : values) {
    auto vector = dyn_cast<VectorType>(value.getType());
    size_t count = vector ? vector.getNumElements() : 1;
    value = vector ? b.create<vector::FromElementsOp>(vector,
                                                      rest.take_front(count))
                   : rest.front();
    rest = rest.drop_front(count);
  }
}

Lanes ReductionEmitter::finish(Value value) {
  Type element = bodyType(scalarType(elementTypeOf(reduce.getType())));
  if (element != getElementTypeOrSelf(value.getType()) &&
      isa<FloatType>(element)) {
    Type type =
        isa<VectorType>(value.getType()) ? Type(b.vectorOf(element)) : element;
    value = b.create<arith::TruncFOp>(type, value);
  }
  return isa<VectorType>(value.getType()) ? Lanes::vector(value)
                                          : Lanes::scalar(value);
}

Result<SmallVector<Lanes>> ReductionEmitter::run() {
  TW_RETURN_IF_ERROR(prepare());
  size_t count = copies.size();
  int64_t outerWidth = b.getWidth();
  if (plan.innerWidth > 1) {
    b.setWidth(plan.innerWidth);
  }
  SmallVector<Value> start = initial(b.getWidth());
  bool hasScalarTail = plan.innerWidth > 1 && !frame.getTarget().hasMaskedOps;
  if (hasScalarTail) {
    llvm::append_range(start, initial(1));
  }
  bool decidesTile = !plan.guards.empty() && plan.guards.isShort &&
                     plan.guards.isConvex && plan.copiesAreLine;
  Result<SmallVector<Value>> values = SmallVector<Value>();
  if (decidesTile) {
    Result<Value> inside = isTileInside(allBounds());
    TW_RETURN_IF_ERROR(inside.status());
    values = choose(
        *inside, start, [&] { return insideLoops(0, start); },
        [&] { return clippedLoops(start); });
  } else {
    values = loop(0, start);
  }
  b.setWidth(outerWidth);
  TW_RETURN_IF_ERROR(values.status());
  SmallVector<Value> totals;
  for (size_t copy = 0; copy < count; ++copy) {
    Value value = (*values)[reduce.isArg() ? count + copy : copy];
    if (plan.innerWidth > 1) {
      value = across(value);
      if (hasScalarTail) {
        value = fold(b, reduce.getKind(), isUnsignedFold, value,
                     (*values)[count + copy]);
      }
    }
    totals.push_back(value);
  }
  if (frame.teamSize() > 1 && !plan.axes.empty()) {
    acrossTeam(totals);
  }
  SmallVector<Lanes> results;
  for (Value total : totals) {
    results.push_back(finish(total));
  }
  return results;
}

Result<SmallVector<Lanes>> emitReduction(KernelFrame &frame,
                                         const ReductionPlan &plan,
                                         ArrayRef<SmallVector<Lanes>> copies,
                                         Value activeLanes) {
  return ReductionEmitter(frame, plan, copies, activeLanes).run();
}

} // namespace tilewright::families
