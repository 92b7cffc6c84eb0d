//===- GuardedReduction.cpp - guards decided before the loops -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/ReductionEmitter.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

BodyEmitter ReductionEmitter::makeEmitter(Value lanes) {
  BodyVariant variant;
  variant.isInside = isInside;
  if (!padded.empty()) {
    variant.load = [this](LoadOp load, unsigned copy) -> std::optional<Lanes> {
      auto found = padded.find({load, copy});
      if (found == padded.end()) {
        return std::nullopt;
      }
      Lanes offset = b.add(Lanes::index(found->second.offset),
                           coordinates[plan.axes.back().last]);
      return loadLanes(frame, found->second.memory, offset, {});
    };
  }
  if (isInside || !padded.empty() || plan.panel) {
    // What only guards or packed panels need is not computed.
    SmallVector<Value> roots = {plan.panel ? plan.panel->factors.rows
                                           : yieldOf(reduce).getOperand(0)};
    llvm::SmallPtrSet<Operation *, 16> needed;
    while (!roots.empty()) {
      Operation *op = roots.pop_back_val().getDefiningOp();
      if (!op || op->getBlock() != &reduce.getBody().front() ||
          !needed.insert(op).second) {
        continue;
      }
      auto load = dyn_cast<LoadOp>(op);
      if (!load) {
        llvm::append_range(roots, op->getOperands());
      } else if (!padded.contains({op, 0})) {
        llvm::append_range(roots, load.getIndices());
        if (load.getGuard() && !isInside) {
          llvm::append_range(roots, op->getOperands());
        }
      }
    }
    variant.only = std::move(needed);
  }
  return BodyEmitter(frame, reduce.getBody().front(), lanes,
                     std::move(variant));
}

Value ReductionEmitter::conjunction(ArrayRef<Value> conditions, bool isAny) {
  Value all;
  for (Value condition :
       llvm::SetVector<Value>(conditions.begin(), conditions.end())) {
    all = !all    ? condition
          : isAny ? Value(b.create<arith::OrIOp>(all, condition))
                  : Value(b.create<arith::AndIOp>(all, condition));
  }
  return all;
}

/// The bounds whose conjunction `guard` is.
static void boundsOf(Value guard, SmallVectorImpl<Value> &bounds) {
  if (auto both = guard.getDefiningOp<arith::AndIOp>()) {
    boundsOf(both.getLhs(), bounds);
    boundsOf(both.getRhs(), bounds);
    return;
  }
  bounds.push_back(guard);
}

/// The bounds of all guards.
SmallVector<Value> ReductionEmitter::allBounds() {
  SmallVector<Value> bounds;
  for (Operation *load : plan.guards.loads) {
    boundsOf(cast<LoadOp>(load).getGuard(), bounds);
  }
  return bounds;
}

/// True where no step of the tile, from the coordinates of the loops that are
/// entered on, breaks one of `bounds`: a convex guard holds in a box when it
/// holds at the corners.
Result<Value> ReductionEmitter::isTileInside(ArrayRef<Value> bounds) {
  BodyEmitter emitter(frame, reduce.getBody().front(), activeLanes,
                      {neededFor(bounds), false, {}});
  unsigned moving = plan.guards.plainFrom;
  SmallVector<Value> conditions;
  for (unsigned corner = 0; corner < (1U << moving); ++corner) {
    for (unsigned axis = 0; axis < plan.axes.size(); ++axis) {
      Lanes &at = coordinates[plan.axes[axis].last];
      at = axis < moving && (corner >> axis & 1)
               ? b.sub(frame.size(plan.axes[axis].extent), Lanes::index(1))
               : Lanes::index(0);
    }
    for (unsigned copy : {0U, static_cast<unsigned>(copies.size() - 1)}) {
      SmallVector<Lanes> all(copies[copy]);
      llvm::append_range(all, coordinates);
      TW_RETURN_IF_ERROR(emitter.emit(copy, all));
      for (Value bound : bounds) {
        conditions.push_back(emitter.get(bound).value);
      }
    }
  }
  return conjunction(conditions, /*isAny=*/false);
}

/// True if a bound is not the same in all copies and all inner loops of one
/// step of the outermost loop: along a line of the window.
bool ReductionEmitter::differsWithinLine(Value bound) {
  Block &body = reduce.getBody().front();
  for (const TileAxis &axis : ArrayRef(plan.axes).drop_front()) {
    if (dependsOn(bound,
                  body.getArgument(reduce.getParallelRank() + axis.last))) {
      return true;
    }
  }
  for (auto [number, first, last] :
       llvm::enumerate(copies.front(), copies.back())) {
    if (!(first == last) && dependsOn(bound, body.getArgument(number))) {
      return true;
    }
  }
  return false;
}

/// The steps of the outermost loop at which `bounds` hold; of the others, which
/// add zeros, there are none.
Result<SmallVector<Value>>
ReductionEmitter::existingLines(ArrayRef<Value> bounds,
                                ArrayRef<Value> accumulators) {
  const TileAxis &outer = plan.axes.front();
  return forLoop(
      b.constantIndex(0), frame.sizeValue(outer.extent), 1, accumulators,
      [&](Value line, ArrayRef<Value> carried) -> Result<SmallVector<Value>> {
        coordinates.assign(coordinates.size(), Lanes::index(0));
        coordinates[outer.last] = Lanes::index(line);
        BodyEmitter emitter(frame, reduce.getBody().front(), activeLanes,
                            {neededFor(bounds), false, {}});
        SmallVector<Lanes> all(copies.front());
        llvm::append_range(all, coordinates);
        TW_RETURN_IF_ERROR(emitter.emit(0, all));
        SmallVector<Value> conditions;
        for (Value bound : bounds) {
          conditions.push_back(emitter.get(bound).value);
        }
        return choose(
            conjunction(conditions, /*isAny=*/false), carried,
            [&] { return loop(1, carried); },
            [&]() -> Result<SmallVector<Value>> {
              return SmallVector<Value>(carried);
            });
      });
}

/// The loops of a tile that leaves its tensors: lines of the window that are
/// outside are left out, and guards are looked at where the others end.
Result<SmallVector<Value>>
ReductionEmitter::clippedLoops(ArrayRef<Value> accumulators) {
  SmallVector<Value> lines, others;
  for (Value bound : allBounds()) {
    (differsWithinLine(bound) ? others : lines).push_back(bound);
  }
  bool hasLines = llvm::any_of(lines, [&](Value bound) {
    return dependsOn(bound,
                     reduce.getBody().getArgument(reduce.getParallelRank() +
                                                  plan.axes.front().last));
  });
  if (!hasLines || plan.axes.size() < 2 || !addsZeros()) {
    return loop(0, accumulators);
  }
  auto inside = [&] {
    bool before = std::exchange(isInside, true);
    Result<SmallVector<Value>> result = existingLines(lines, accumulators);
    isInside = before;
    return result;
  };
  if (others.empty()) {
    return inside();
  }
  Result<Value> areInside = isTileInside(others);
  TW_RETURN_IF_ERROR(areInside.status());
  return choose(*areInside, accumulators, inside,
                [&] { return existingLines(lines, accumulators); });
}

Result<SmallVector<Value>>
ReductionEmitter::insideLoops(unsigned axis, ArrayRef<Value> accumulators) {
  bool before = std::exchange(isInside, true);
  Result<SmallVector<Value>> result = loop(axis, accumulators);
  isInside = before;
  return result;
}

/// True if what lies outside adds nothing: zero times a weight. (Zero times
/// infinity would; padding does not count as an element.)
bool ReductionEmitter::addsZeros() const {
  return product && llvm::all_of(plan.guards.loads, [](LoadOp load) {
           return matchPattern(load.getOtherwise(), m_AnyZeroFloat()) ||
                  matchPattern(load.getOtherwise(), m_Zero());
         });
}

/// The loops that change no guard: all copies inside, or some, or none.
Result<SmallVector<Value>>
ReductionEmitter::guardedRun(unsigned axis, ArrayRef<Value> accumulators) {
  for (const TileAxis &inner : ArrayRef(plan.axes).drop_front(axis)) {
    coordinates[inner.last] = Lanes::index(0);
  }
  SmallVector<Value> roots;
  for (LoadOp load : plan.guards.loads) {
    roots.push_back(load.getGuard());
    llvm::append_range(roots, load.getIndices());
  }
  BodyEmitter emitter(frame, reduce.getBody().front(), activeLanes,
                      {neededFor(roots), false, {}});
  SmallVector<Value> conditions;
  struct Read {
    LoadOp load;
    unsigned copy;
    Value guard, offset;
  };
  SmallVector<Read> reads;
  for (unsigned copy = 0; copy < copies.size(); ++copy) {
    SmallVector<Lanes> all(copies[copy]);
    llvm::append_range(all, coordinates);
    TW_RETURN_IF_ERROR(emitter.emit(copy, all));
    for (LoadOp load : plan.guards.loads) {
      conditions.push_back(emitter.get(load.getGuard()).value);
      if (!plan.pads.contains(load)) {
        continue;
      }
      SmallVector<Lanes> indices;
      for (Value index : load.getIndices()) {
        indices.push_back(emitter.get(index));
      }
      Value source = load.getSource();
      Lanes offset =
          offsetOf(frame, *frame.memoryOf(source), source.getType(), indices);
      reads.push_back({load, copy, conditions.back(), b.first(offset)});
    }
  }
  bool isPadded = plan.pads.size() == plan.guards.loads.size();
  auto partly = [&]() -> Result<SmallVector<Value>> {
    for (const Read &read : isPadded ? ArrayRef(reads) : ArrayRef<Read>()) {
      Memory memory = *frame.memoryOf(LoadOp(read.load).getSource());
      memory.memref = b.create<arith::SelectOp>(
          read.guard, memory.memref, plan.pads.lookup(read.load).memref);
      Value offset = b.create<arith::SelectOp>(read.guard, read.offset,
                                               b.constantIndex(0));
      padded[{read.load, read.copy}] = {memory, offset};
    }
    isDecided = true;
    Result<SmallVector<Value>> result = loop(axis, accumulators);
    isDecided = false;
    padded.clear();
    return result;
  };
  auto leaving = [&]() -> Result<SmallVector<Value>> {
    if (!addsZeros()) {
      return partly();
    }
    return choose(conjunction(conditions, /*isAny=*/true), accumulators, partly,
                  [&]() -> Result<SmallVector<Value>> {
                    return SmallVector<Value>(accumulators);
                  });
  };
  return choose(
      conjunction(conditions, /*isAny=*/false), accumulators,
      [&] { return insideLoops(axis, accumulators); }, leaving);
}

} // namespace tilewright::families
