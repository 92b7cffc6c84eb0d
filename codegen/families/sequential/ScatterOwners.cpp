//===- ScatterOwners.cpp - the kernel of scatters by owners ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/sequential/ScatterOwners.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/TaskLoop.h"
#include "ir/TensorTypes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

SmallVector<unsigned> scatteredAxes(const ScatterForm &form) {
  SmallVector<unsigned> axes;
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (!coordinate) {
      axes.push_back(axis);
    }
  }
  return axes;
}

constexpr int64_t slotBytes = 8;

int64_t placesBytes(int64_t threads) { return threads * slotBytes; }

OwnerEmitter::OwnerEmitter(KernelFrame &frame, int64_t owners)
    : frame(frame), b(frame.getBuilder()), math(b), owners(owners),
      form(scatterFormOf(frame.getRegion())), scatter(form.op),
      dims(dimsOf(scatter.getType())), domain(scatter.getDomain()),
      scattered(scatteredAxes(form)) {}

//===----------------------------------------------------------------------===//
// Owners
//===----------------------------------------------------------------------===//

Status OwnerEmitter::run() {
  TW_RETURN_IF_ERROR(checkScatter(scatter));
  Lanes count = Lanes::index(owners);
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    count = coordinate ? b.mul(count, frame.size(dims[axis])) : count;
  }
  int64_t team = frame.teamSize();
  if (team == 1) {
    return emitTaskLoop(frame, {count}, [&](ArrayRef<Value> at) {
      return task(at.front(), Value());
    });
  }
  // All threads of a block walk, those without elements as well.
  slots = frame.takeShared(b.getI64Type(), team, slotBytes);
  Lanes blocks =
      b.floorDiv(b.add(count, Lanes::index(team - 1)), Lanes::index(team));
  return emitTaskLoop(frame, {blocks}, [&](ArrayRef<Value> at) {
    Value number = math.plus(math.times(at.front(), team), frame.laneOfTeam());
    Value last = b.first(b.sub(count, Lanes::index(1)));
    return task(b.createOrFold<arith::MinSIOp>(number, last),
                math.isLess(number, b.first(count)));
  });
}

/// What the owner of that number has. They are in the order of the result's
/// axes; the number among those of a place is where the last of their axes is.
void OwnerEmitter::takePlace(Value number) {
  shared.assign(dims.size(), Lanes());
  owner = b.constantIndex(0);
  Value rest = number;
  auto next = [&](const Lanes &extent, bool isFirst) -> Value {
    if (isFirst) {
      return rest;
    }
    Value size = b.first(extent), digit = math.mod(rest, size);
    rest = math.over(rest, size);
    return digit;
  };
  auto digits = llvm::count_if(form.sharedBy, [](auto &c) { return !!c; }) +
                !scattered.empty();
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (form.sharedBy[axis]) {
      shared[axis] = Lanes::index(next(frame.size(dims[axis]), --digits == 0));
    } else if (axis == scattered.back()) {
      owner = b.named("owner", next(Lanes::index(owners), --digits == 0));
    }
  }
}

/// \param exists whether there is such an owner; null: yes.
Status OwnerEmitter::task(Value number, Value exists) {
  takePlace(number);
  for (const Memory &output : frame.outputsOf(scatter.getResult())) {
    auto copies = [&] { return copy(output); };
    TW_RETURN_IF_ERROR(exists ? emitIf(b, exists, copies) : copies());
    Value mayWrite = math.both(exists, updatesExist());
    if (slots) {
      TW_RETURN_IF_ERROR(walkTogether(output, mayWrite));
      continue;
    }
    auto updates = [&] { return walk(output); };
    TW_RETURN_IF_ERROR(mayWrite ? emitIf(b, mayWrite, updates) : updates());
  }
  return Status::ok();
}

Value OwnerEmitter::countOf(ArrayRef<DimExpr> extents,
                            ArrayRef<unsigned> axes) {
  Lanes count = Lanes::index(1);
  for (unsigned axis : axes) {
    count = b.mul(count, frame.size(extents[axis]));
  }
  return b.first(count);
}

/// Sets the coordinates `axes` to those of an element's number.
void OwnerEmitter::place(Value number, ArrayRef<DimExpr> extents,
                         ArrayRef<unsigned> axes, SmallVectorImpl<Lanes> &at) {
  Value rest = number;
  for (size_t i = axes.size(); i-- > 0;) {
    if (i == 0) {
      at[axes[i]] = Lanes::index(rest);
      break;
    }
    Value extent = frame.sizeValue(extents[axes[i]]);
    at[axes[i]] = Lanes::index(math.mod(rest, extent));
    rest = math.over(rest, extent);
  }
}

/// Copies the owner's elements of the initial tensor. Those past the end are
/// loads of the last.
Status OwnerEmitter::copy(const Memory &output) {
  Value count = countOf(dims, scattered);
  Value last = b.createOrFold<arith::SubIOp>(count, b.constantIndex(1));
  return emitLoop(b, owner, count, owners * atOnce, [&](Value first) {
    SmallVector<SmallVector<Lanes>> places;
    SmallVector<Value> exists;
    SmallVector<Lanes> values;
    for (int64_t i = 0; i < atOnce; ++i) {
      Value number = math.plus(first, i * owners);
      exists.push_back(i == 0 ? Value() : math.isLess(number, count));
      if (i > 0) {
        number = b.createOrFold<arith::MinSIOp>(number, last);
      }
      places.push_back(shared);
      place(number, dims, scattered, places.back());
      Result<Lanes> value = loadInitial(frame, scatter, places.back());
      TW_RETURN_IF_ERROR(value.status());
      values.push_back(*value);
    }
    for (int64_t i = 0; i < atOnce; ++i) {
      auto store = [&] {
        storeLanes(frame, output,
                   offsetOf(frame, output, scatter.getType(), places[i]),
                   values[i], Value());
        return Status::ok();
      };
      TW_RETURN_IF_ERROR(exists[i] ? emitIf(b, exists[i], store) : store());
    }
    return Status::ok();
  });
}

/// A shared axis of the updates may be shorter than the result's. \returns
/// null if none is.
Value OwnerEmitter::updatesExist() {
  Value exist;
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (coordinate && domain[*coordinate] != dims[axis]) {
      exist =
          math.both(exist, math.isLess(b.first(shared[axis]),
                                       frame.sizeValue(domain[*coordinate])));
    }
  }
  return exist;
}

/// \returns the number of an element among those on scattered axes.
Value OwnerEmitter::numberOf(ArrayRef<Lanes> places) {
  Value number = b.constantIndex(0);
  for (unsigned axis : scattered) {
    number = math.plus(math.times(number, frame.sizeValue(dims[axis])),
                       b.first(places[axis]));
  }
  return number;
}

/// \returns whether the owner has the element of that number; null: yes.
Value OwnerEmitter::isOwn(Value number) {
  return owners == 1 ? Value()
                     : b.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                               math.mod(number, owners), owner);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// The coordinates of an update for the owner's place.
SmallVector<Lanes> OwnerEmitter::updateAt(Value number) {
  SmallVector<Lanes> at(domain.size());
  for (auto [axis, coordinate] : llvm::enumerate(form.sharedBy)) {
    if (coordinate) {
      at[*coordinate] = shared[axis];
    }
  }
  place(number, domain, form.walked, at);
  return at;
}

Status OwnerEmitter::write(const Memory &output, Value update,
                           ArrayRef<Lanes> places) {
  BodyEmitter emitter(frame, scatter.getBody().front(), Value());
  Result<Lanes> value = emitter.emitFor(0, updateAt(update),
                                        yieldOf(scatter).getOperands().back());
  TW_RETURN_IF_ERROR(value.status());
  emitUpdate(frame, scatter, output, places, *value);
  return Status::ok();
}

/// Walks the updates for the owner's place in order. Some find out at once
/// where they go; past the end they are the last.
Status OwnerEmitter::walk(const Memory &output) {
  Value count = b.named("updates", countOf(domain, form.walked));
  Value last = b.createOrFold<arith::SubIOp>(count, b.constantIndex(1));
  return emitLoop(b, b.constantIndex(0), count, atOnce, [&](Value first) {
    BodyEmitter emitter(frame, scatter.getBody().front(), Value());
    SmallVector<SmallVector<Lanes>> places(atOnce);
    SmallVector<Value> updates, own;
    for (int64_t i = 0; i < atOnce; ++i) {
      Value update = math.plus(first, i), exists;
      if (i > 0) {
        exists = math.isLess(update, count);
        update = b.createOrFold<arith::MinSIOp>(update, last);
      }
      SmallVector<Lanes> at = updateAt(update);
      for (Value yielded : yieldOf(scatter).getOperands().drop_back()) {
        Result<Lanes> lanes = emitter.emitFor(i, at, yielded);
        TW_RETURN_IF_ERROR(lanes.status());
        places[i].push_back(*lanes);
      }
      own.push_back(math.both(exists, isOwn(numberOf(places[i]))));
      updates.push_back(update);
    }
    for (int64_t i = 0; i < atOnce; ++i) {
      auto writes = [&] { return write(output, updates[i], places[i]); };
      TW_RETURN_IF_ERROR(own[i] ? emitIf(b, own[i], writes) : writes());
    }
    return Status::ok();
  });
}

/// The same where updates go to one place on scattered axes for all owners:
/// each thread of the block finds out for one of the next updates, then all of
/// them walk these.
Status OwnerEmitter::walkTogether(const Memory &output, Value mayWrite) {
  constexpr int64_t unrolled = 4;
  int64_t team = frame.teamSize();
  Value lane = frame.laneOfTeam();
  Value count = b.named("updates", countOf(domain, form.walked));
  Value last = b.createOrFold<arith::SubIOp>(count, b.constantIndex(1));
  return emitLoop(b, b.constantIndex(0), count, team, [&](Value first) {
    BodyEmitter emitter(frame, scatter.getBody().front(), Value());
    SmallVector<Lanes> places(dims.size());
    SmallVector<Lanes> at =
        updateAt(b.createOrFold<arith::MinSIOp>(math.plus(first, lane), last));
    for (unsigned axis : scattered) {
      Result<Lanes> lanes =
          emitter.emitFor(0, at, yieldOf(scatter).getOperand(axis));
      TW_RETURN_IF_ERROR(lanes.status());
      places[axis] = *lanes;
    }
    Value number =
        b.create<arith::IndexCastOp>(b.getI64Type(), numberOf(places));
    b.create<memref::StoreOp>(number, slots, ValueRange(lane));
    b.create<gpu::BarrierOp>();
    Value left = b.createOrFold<arith::SubIOp>(count, first);
    Value here = b.createOrFold<arith::MinSIOp>(left, b.constantIndex(team));
    auto loop =
        b.create<scf::ForOp>(b.constantIndex(0), here, b.constantIndex(1));
    loop->setAttr(twk::unrollAttr, b.getI64IntegerAttr(unrolled));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value slot = loop.getInductionVar();
      Value known = b.create<arith::IndexCastOp>(
          b.getIndexType(), b.create<memref::LoadOp>(slots, ValueRange(slot)));
      auto writes = [&] {
        SmallVector<Lanes> target(shared);
        place(known, dims, scattered, target);
        return write(output, math.plus(first, slot), target);
      };
      Value own = math.both(mayWrite, isOwn(known));
      TW_RETURN_IF_ERROR(own ? emitIf(b, own, writes) : writes());
    }
    b.create<gpu::BarrierOp>(); // the next updates go there
    return Status::ok();
  });
}

} // namespace tilewright::families
