//===- RowSchedule.cpp - passes over a row --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/RowSchedule.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/rows/RowFold.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

std::optional<RowPlace> placeInRow(const FusedRegion &region, LoadOp load) {
  auto place = placeOf(load);
  if (!place || !isa<BlockArgument>(stripReshapes(load.getSource()))) {
    return std::nullopt;
  }
  unsigned last = load->getBlock()->getNumArguments() - 1;
  auto reads = [&](unsigned first, unsigned end) {
    return llvm::any_of(*place, [&](int64_t number) {
      return number >= int64_t(first) && number <= int64_t(end);
    });
  };
  bool isOfRow = region.rows == 0 || reads(0, region.rows - 1);
  return isOfRow && reads(region.rows, last)
             ? std::optional(RowPlace(load.getSource().getAsOpaquePointer(),
                                      std::move(*place)))
             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Terms that a scalar shifts
//===----------------------------------------------------------------------===//

/// The map over a row that `load` reads, each element at its own place.
static MapOp mapOver(const FusedRegion &region, LoadOp load) {
  auto map = load.getSource().getDefiningOp<MapOp>();
  bool isOverRow =
      map && !load.getGuard() && !innerExtents(region, map).empty();
  return isOverRow ? map : MapOp();
}

/// The scalar behind loads from the maps that `mapOf` gives.
static Value behind(Value value, llvm::function_ref<MapOp(LoadOp)> mapOf) {
  while (auto load = value.getDefiningOp<LoadOp>()) {
    MapOp map = mapOf(load);
    if (!map) {
      break;
    }
    unsigned result = cast<OpResult>(load.getSource()).getResultNumber();
    value = yieldOf(map).getOperand(result);
  }
  return value;
}

/// The scalar behind loads from maps over the row.
static Value behindMaps(const FusedRegion &region, Value value) {
  return behind(value, [&](LoadOp load) { return mapOver(region, load); });
}

/// Whether all elements of a row have one value of `scalar`.
static bool isOfRow(const FusedRegion &region, Value scalar) {
  auto isInner = [&](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    return argument && argument.getArgNumber() >= region.rows;
  };
  return llvm::none_of(neededFor(scalar), [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand.getParentBlock() == op->getBlock() && isInner(operand);
    });
  });
}

/// Whether two scalars are one, or the same element of one tensor.
static bool areEqual(Value x, Value y) {
  auto first = x.getDefiningOp<LoadOp>(), second = y.getDefiningOp<LoadOp>();
  if (x == y || !first || !second) {
    return x == y;
  }
  auto place = placeOf(first);
  return first.getSource() == second.getSource() && !first.getGuard() &&
         !second.getGuard() && place && place == placeOf(second);
}

/// Whether `shift` is the sum of x over the row and some factors: then it is
/// not finite where an x is not.
static bool isMeanOf(const FusedRegion &region, Value shift, Value x) {
  Value ofRow = behind(shift, [](LoadOp load) {
    return load.getGuard() ? MapOp() : load.getSource().getDefiningOp<MapOp>();
  });
  ReduceOp sum;
  for (Operation *op : neededFor(ofRow)) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      auto reduce = load.getSource().getDefiningOp<ReduceOp>();
      if (sum || !reduce || reduce.getKind() != FoldKind::Add) {
        return false;
      }
      sum = reduce;
    } else if (!isa<arith::MulFOp, arith::DivFOp, arith::ConstantOp,
                    arith::ExtFOp, arith::TruncFOp, arith::UIToFPOp,
                    arith::SIToFPOp, arith::IndexCastOp, SizeOp>(op)) {
      return false;
    }
  }
  return sum && areEqual(behindMaps(region, yieldOf(sum).getOperand(0)),
                         behindMaps(region, x));
}

static std::optional<ShiftedTerm> matchShifted(const FusedRegion &region,
                                               ReduceOp reduce) {
  Value term = behindMaps(region, yieldOf(reduce).getOperand(0));
  auto real = dyn_cast<FloatType>(term.getType());
  if (reduce.getKind() != FoldKind::Add || !real || real.getWidth() < 32) {
    return std::nullopt;
  }
  auto differenceOf = [&](Value value) {
    return behindMaps(region, value).getDefiningOp<arith::SubFOp>();
  };
  ShiftedTerm shifted;
  arith::SubFOp difference;
  if (auto square = term.getDefiningOp<arith::MulFOp>()) {
    difference = differenceOf(square.getLhs());
    if (difference != differenceOf(square.getRhs())) {
      return std::nullopt;
    }
  } else if (isa_and_nonnull<math::ExpOp, math::Exp2Op>(term.getDefiningOp())) {
    shifted.exponential = term.getDefiningOp();
    difference = differenceOf(shifted.exponential->getOperand(0));
  }
  if (!difference || !isOfRow(region, difference.getRhs())) {
    return std::nullopt;
  }
  shifted.x = difference.getLhs();
  shifted.shift = difference.getRhs();
  // Around any other shift, the squares of infinite elements are infinite.
  bool isExact =
      shifted.exponential || isMeanOf(region, shifted.shift, shifted.x);
  return isExact ? std::optional(shifted) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

unsigned RowSchedule::readyFor(Value scalar) const {
  unsigned result = 0;
  for (Operation *op : neededFor(scalar)) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      Operation *source = stripReshapes(load.getSource()).getDefiningOp();
      result = std::max(result, ready.lookup(source));
    }
  }
  return result;
}

RowSchedule::RowSchedule(const FusedRegion &region, bool shifts)
    : region(region) {
  for (Operation *primitive : region.primitives) {
    unsigned after = 0;
    for (Value yielded :
         primitive->getRegion(0).front().getTerminator()->getOperands()) {
      after = std::max(after, readyFor(yielded));
    }
    auto reduce = dyn_cast<ReduceOp>(primitive);
    if (!reduce) {
      ready[primitive] = after;
      continue;
    }
    std::optional<ShiftedTerm> shifted =
        shifts ? matchShifted(region, reduce) : std::nullopt;
    if (shifted) {
      unsigned shiftReady = readyFor(shifted->shift);
      unsigned early =
          std::max(readyFor(shifted->x), shiftReady > 0 ? shiftReady - 1 : 0);
      if (early < after) {
        after = early;
      } else {
        shifted.reset();
      }
    }
    folds.resize(std::max<size_t>(folds.size(), after + 1));
    folds[after].push_back({reduce, shifted});
    ready[primitive] = after + 1;
  }
}

SmallVector<MapOp> RowSchedule::results() const {
  OperandRange yielded = region.getYield().getOperands();
  SmallVector<MapOp> maps;
  for (Operation *primitive : region.primitives) {
    auto map = dyn_cast<MapOp>(primitive);
    bool isResult = map && !innerExtents(region, map).empty() &&
                    llvm::any_of(yielded, [&](Value value) {
                      return stripReshapes(value).getDefiningOp() == primitive;
                    });
    if (isResult) {
      maps.push_back(map);
    }
  }
  return maps;
}

/// Adds the loads of `op`, or of the map over the row that it reads, which a
/// pass evaluates once.
void RowSchedule::demand(Operation *op, SmallVectorImpl<LoadOp> &loads,
                         llvm::SmallPtrSetImpl<Operation *> &maps) const {
  auto load = dyn_cast<LoadOp>(op);
  MapOp map = load ? mapOver(region, load) : MapOp();
  if (load && !map) {
    loads.push_back(load);
  }
  if (map && maps.insert(map).second) {
    map.walk([&](LoadOp inner) { demand(inner, loads, maps); });
  }
}

SmallVector<LoadOp> RowSchedule::loadsOf(size_t pass) const {
  SmallVector<LoadOp> loads;
  llvm::SmallPtrSet<Operation *, 8> maps;
  if (pass == passes()) {
    for (MapOp map : results()) {
      if (maps.insert(map).second) {
        map.walk([&](LoadOp load) { demand(load, loads, maps); });
      }
    }
    return loads;
  }
  for (const ScheduledFold &fold : folds[pass]) {
    ReduceOp reduce = fold.reduce;
    if (!fold.shifted) {
      reduce.walk([&](LoadOp load) { demand(load, loads, maps); });
      continue;
    }
    Value x = fold.shifted->x;
    llvm::SmallPtrSet<Operation *, 16> needed = neededFor(x);
    x.getParentBlock()->walk([&](LoadOp load) { // in order
      if (needed.contains(load)) {
        demand(load, loads, maps);
      }
    });
  }
  return loads;
}

} // namespace tilewright::families
