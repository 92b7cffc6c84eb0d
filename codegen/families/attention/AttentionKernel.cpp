//===- AttentionKernel.cpp - what attention's kernels share ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/AttentionKernel.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/fuse/Access.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

SmallVector<Lanes> AttentionKernel::row(const Lanes &query) const {
  SmallVector<Lanes> at(outer);
  if (form.queryAxis) {
    at[*form.queryAxis] = query;
  }
  return at;
}

SmallVector<Lanes> AttentionKernel::score(const Lanes &query,
                                          const Lanes &key) const {
  SmallVector<Lanes> at = row(query);
  at.push_back(key);
  return at;
}

SmallVector<Lanes> AttentionKernel::product(const Lanes &query,
                                            const Lanes &key,
                                            const Lanes &depth) const {
  SmallVector<Lanes> at = score(query, key);
  at.push_back(depth);
  return at;
}

SmallVector<Lanes> AttentionKernel::result(const Lanes &query,
                                           const Lanes &value) const {
  SmallVector<Lanes> rows = row(query), at(rows.size() + 1);
  for (auto [coordinate, axis] : llvm::zip(rows, form.rowAxes)) {
    at[axis] = coordinate;
  }
  at[form.valueAxis] = value;
  return at;
}

SmallVector<Lanes> AttentionKernel::weighted(const Lanes &query,
                                             const Lanes &value,
                                             const Lanes &key) const {
  SmallVector<Lanes> at = result(query, value);
  at.push_back(key);
  return at;
}

Lanes AttentionKernel::depth() const {
  return frame.size(ReduceOp(form.scores).getExtents().getDims().front());
}

Lanes AttentionKernel::keys() const {
  return frame.size(ReduceOp(form.max).getExtents().getDims().front());
}

Lanes AttentionKernel::valueSize() const {
  return frame.size(dimsOf(ReduceOp(form.values).getType())[form.valueAxis]);
}

Value AttentionKernel::lanesBelow(const Lanes &position,
                                  const Lanes &count) const {
  if (count.isConstantIndex() && count.offset % parameters.width == 0) {
    return Value();
  }
  return b.create<vector::CreateMaskOp>(b.vectorOf(b.getI1Type()),
                                        b.first(b.sub(count, position)));
}

Lanes AttentionKernel::wholeVectors(const Lanes &extent) const {
  Lanes width = Lanes::index(parameters.width);
  Lanes up = b.add(extent, Lanes::index(parameters.width - 1));
  return b.mul(b.floorDiv(up, width), width);
}

//===----------------------------------------------------------------------===//
// What is read how
//===----------------------------------------------------------------------===//

bool readsRows(Operation *primitive, Value factor, unsigned coordinate,
               int64_t width) {
  Block &body = primitive->getRegion(0).front();
  BlockArgument along = body.getArgument(coordinate);
  llvm::SetVector<Value> behind;
  behind.insert(factor);
  for (size_t i = 0; i < behind.size(); ++i) {
    auto load = behind[i].getDefiningOp<LoadOp>();
    if (!load) {
      if (Operation *op = behind[i].getDefiningOp()) {
        behind.insert(op->operand_begin(), op->operand_end());
      }
      continue;
    }
    Movement movement = movementOf(load, along, width);
    if (movement != Movement::Contiguous && movement != Movement::None) {
      return false;
    }
  }
  return true;
}

SmallVector<LoadOp> turnedMasks(const AttentionForm &form, int64_t width) {
  SmallVector<LoadOp> masks;
  SmallVector<Value> sources; // of all loads
  if (!form.queryAxis) {
    return masks;
  }
  for (MapOp map : form.scoreMaps) {
    BlockArgument query = map.getBody().getArgument(*form.queryAxis),
                  key = map.getBody().getArguments().back();
    for (LoadOp load : map.getBody().getOps<LoadOp>()) {
      sources.push_back(load.getSource());
      Operation *producer = stripReshapes(load.getSource()).getDefiningOp();
      Type element = scalarType(elementTypeOf(load.getSource().getType()));
      auto coordinates = coordinatesOf(load);
      bool isMember = producer && isPrimitive(producer);
      if (!isMember && !load.getGuard() && coordinates.contains(query) &&
          coordinates.contains(key) &&
          (element.isF32() || element.isInteger(1)) &&
          movementOf(load, key, width) == Movement::Contiguous) {
        masks.push_back(load);
      }
    }
  }
  // What is read in two ways is not one tensor of scores' elements.
  llvm::erase_if(masks, [&](LoadOp load) {
    return llvm::count(sources, load.getSource()) != 1;
  });
  return masks;
}

SmallVector<Value> transpose(LaneBuilder &b, ArrayRef<Value> rows) {
  int64_t width = rows.size();
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < width / 2; ++i) {
    low.append({i, width + i});
    high.append({width / 2 + i, width + width / 2 + i});
  }
  // Each round interleaves the first half with the second.
  SmallVector<Value> current(rows);
  for (int64_t round = 1; round < width; round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < width / 2; ++i) {
      Value x = current[i], y = current[i + width / 2];
      next.push_back(b.create<vector::ShuffleOp>(x, y, low));
      next.push_back(b.create<vector::ShuffleOp>(x, y, high));
    }
    current = std::move(next);
  }
  return current;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

AttentionBuffers AttentionKernel::buffers() const {
  constexpr int64_t floatBytes = 4, lineFloats = 16;
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getF32Type());
  Lanes offset = Lanes::index(0);
  // A line more for each, so that vectors may reach past the end.
  auto carve = [&](const Lanes &length) -> Value {
    Lanes elements = b.mul(b.add(length, Lanes::index(lineFloats)),
                           Lanes::index(parameters.rows()));
    Value view = b.create<memref::ViewOp>(
        type, frame.getKernel().getWorkspace(), b.first(offset),
        ValueRange(b.first(elements)));
    offset = b.add(offset, b.mul(elements, Lanes::index(floatBytes)));
    return view;
  };
  AttentionBuffers result;
  result.queries = carve(depth());
  result.scores = carve(Lanes::index(parameters.keys));
  result.values = carve(valueSize());
  Lanes keysOfBlock = Lanes::index(parameters.keys);
  Lanes elements = b.mul(
      b.add(wholeVectors(depth()), wholeVectors(valueSize())), keysOfBlock);
  result.block =
      b.create<memref::ViewOp>(type, frame.getKernel().getWorkspace(),
                               b.first(offset), ValueRange(b.first(elements)));
  offset = b.add(offset, b.mul(elements, Lanes::index(floatBytes)));
  for (size_t i = turnedMasks(form, parameters.width).size(); i > 0; --i) {
    result.masks.push_back(carve(Lanes::index(parameters.keys)));
  }
  return result;
}

Value AttentionKernel::loadVector(Value buffer, const Lanes &at) {
  return b.create<vector::LoadOp>(b.vectorOf(b.getF32Type()), buffer,
                                  b.first(at));
}

void AttentionKernel::storeVector(Value value, Value buffer, const Lanes &at) {
  b.create<vector::StoreOp>(value, buffer, b.first(at));
}

//===----------------------------------------------------------------------===//
// The region's bodies
//===----------------------------------------------------------------------===//

/// A scalar for one of a GPU's threads, a vector of all lanes else.
Value AttentionKernel::whole(const Lanes &lanes) {
  return frame.isSimt() ? b.first(lanes) : b.asVector(lanes);
}

static Lanes lanesOf(Value value) {
  return isa<VectorType>(value.getType()) ? Lanes::vector(value)
                                          : Lanes::scalar(value);
}

/// `value`, scalar or vector, in another float type.
static Value convertFloat(LaneBuilder &b, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element) {
    return value;
  }
  auto vector = dyn_cast<VectorType>(value.getType());
  Type to = vector ? Type(vector.clone(element)) : element;
  return from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth()
             ? Value(b.create<arith::ExtFOp>(to, value))
             : Value(b.create<arith::TruncFOp>(to, value));
}

Result<Value> AttentionKernel::exponential(Value score, Value max,
                                           Value activeLanes) {
  Type element = elementTypeOf(form.score().getType());
  frame.setRegister(form.score(), 0, lanesOf(convertFloat(b, score, element)));
  frame.setRegister(form.exponential.max, 0, lanesOf(max));
  Block &body = form.exponential.computedIn->getRegion(0).front();
  SmallVector<Lanes> at(body.getNumArguments(), Lanes::index(0));
  Result<Lanes> power = BodyEmitter(frame, body, activeLanes)
                            .emitFor(0, at, form.exponential.scalar);
  TW_RETURN_IF_ERROR(power.status());
  return b.first(*power);
}

std::vector<BodyEmitter> AttentionKernel::scoreEmitters(Value activeLanes) {
  std::vector<BodyEmitter> emitters;
  for (MapOp map : form.scoreMaps) {
    emitters.emplace_back(frame, map.getBody().front(), activeLanes);
  }
  return emitters;
}

Result<Value> AttentionKernel::finishScore(unsigned copy, Value sum,
                                           ArrayRef<Lanes> at,
                                           MutableArrayRef<BodyEmitter> maps) {
  Lanes value = lanesOf(sum);
  frame.setRegister(ReduceOp(form.scores).getResult(), copy, value);
  for (auto [map, emitter] : llvm::zip(form.scoreMaps, maps)) {
    TW_RETURN_IF_ERROR(emitter.emit(copy, at));
    value = emitter.get(yieldOf(map).getOperand(0));
    frame.setRegister(MapOp(map).getResult(0), copy, value);
  }
  return convertFloat(b, whole(value), b.getF32Type());
}

Result<AttentionScale> AttentionKernel::scale(Value sum, Value max,
                                              const Lanes &query,
                                              Value activeLanes) {
  if (form.isPart()) {
    return AttentionScale();
  }
  frame.setRegister(ReduceOp(form.sum).getResult(), 0, lanesOf(sum));
  frame.setRegister(form.exponential.max, 0, lanesOf(max));
  for (MapOp map : form.rowMaps) {
    BodyEmitter emitter(frame, map.getBody().front(), activeLanes);
    TW_RETURN_IF_ERROR(emitter.emit(0, row(query)));
    frame.setRegister(map.getResult(0), 0,
                      emitter.get(yieldOf(map).getOperand(0)));
  }
  MapOp weights = form.weights;
  BodyEmitter emitter(frame, weights.getBody().front(), activeLanes);
  SmallVector<Lanes> at = score(query, Lanes::index(0));
  Result<Lanes> denominator = emitter.emitFor(0, at, form.denominator);
  TW_RETURN_IF_ERROR(denominator.status());
  AttentionScale result;
  result.denominator = whole(*denominator);
  if (form.cleared) {
    Result<Lanes> cleared = emitter.emitFor(0, at, form.cleared);
    TW_RETURN_IF_ERROR(cleared.status());
    result.cleared = whole(*cleared);
  }
  return result;
}

/// The region's own division or product. Of no keys, the sum is zero. Weights
/// of zero still meet values that are not finite.
Value AttentionKernel::scaled(Value accumulated, const AttentionScale &scale) {
  if (form.isPart()) {
    return accumulated;
  }
  Operation *clone = form.scale->clone();
  bool isSecond = clone->getOperand(1) == form.denominator;
  clone->setOperand(isSecond ? 1 : 0, scale.denominator);
  clone->setOperand(isSecond ? 0 : 1, accumulated);
  clone->getResult(0).setType(accumulated.getType());
  b.insert(clone);
  Value result = clone->getResult(0);
  if (scale.cleared) {
    Value none = b.create<arith::MulFOp>(accumulated, splatFloat(0));
    result = b.create<arith::SelectOp>(scale.cleared,
                                       form.clearsWhere ? none : result,
                                       form.clearsWhere ? result : none);
  }
  Lanes count = keys();
  if (count.isConstantIndex() && count.offset > 0) {
    return result;
  }
  Value isEmpty = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                          b.first(count), b.constantIndex(0));
  return b.create<arith::SelectOp>(isEmpty, splatFloat(0), result);
}

void AttentionKernel::storeRow(Value max, Value sum, const Lanes &query) {
  for (auto [reduce, value] :
       {std::pair(form.max, max), std::pair(form.sum, sum)}) {
    Value tensor = ReduceOp(reduce).getResult();
    for (const Memory &memory : frame.outputsOf(tensor)) {
      storeLanes(frame, memory,
                 offsetOf(frame, memory, tensor.getType(), row(query)),
                 lanesOf(value), Value());
    }
  }
}

Status AttentionKernel::store(Value value, ArrayRef<Lanes> at,
                              Value activeLanes) {
  auto write = [&](Value tensor, const Lanes &lanes) {
    frame.setRegister(tensor, 0, lanes);
    for (const Memory &memory : frame.outputsOf(tensor)) {
      storeLanes(frame, memory, offsetOf(frame, memory, tensor.getType(), at),
                 lanes, activeLanes);
    }
  };
  write(ReduceOp(form.values).getResult(), lanesOf(value));
  for (MapOp map : form.epilogue) {
    BodyEmitter emitter(frame, map.getBody().front(), activeLanes);
    TW_RETURN_IF_ERROR(emitter.emit(0, at));
    write(map.getResult(0), emitter.get(yieldOf(map).getOperand(0)));
  }
  return Status::ok();
}

Value AttentionKernel::greater(Value score, Value max) {
  Value isGreater =
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, score, max);
  return b.create<arith::SelectOp>(isGreater, score, max);
}

Value AttentionKernel::splatFloat(double value) {
  return whole(
      Lanes::scalar(b.create<arith::ConstantOp>(b.getF32FloatAttr(value))));
}

Value AttentionKernel::multiplyAdd(Value x, Value y, Value sum) {
  if (frame.getTarget().hasFma) {
    return b.create<math::FmaOp>(x, y, sum);
  }
  return b.create<arith::AddFOp>(sum, b.create<arith::MulFOp>(x, y));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Result<SmallVector<Value>> carryingLoop(
    LaneBuilder &b, Value from, Value to, int64_t step, ArrayRef<Value> initial,
    llvm::function_ref<Result<SmallVector<Value>>(Value, ArrayRef<Value>)>
        body) {
  auto loop = b.create<scf::ForOp>(from, to, b.constantIndex(step), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs().begin(),
                             loop.getRegionIterArgs().end());
  Result<SmallVector<Value>> next = body(loop.getInductionVar(), carried);
  TW_RETURN_IF_ERROR(next.status());
  if (!initial.empty()) { // a loop that carries nothing has its yield
    b.create<scf::YieldOp>(*next);
  }
  return SmallVector<Value>(loop.getResults().begin(), loop.getResults().end());
}

Result<SmallVector<Value>>
tiledLoop(LaneBuilder &b, const Lanes &from, const Lanes &count, int64_t tile,
          ArrayRef<Value> initial,
          llvm::function_ref<Result<SmallVector<Value>>(Value, int64_t,
                                                        ArrayRef<Value>)>
              body) {
  Lanes whole =
      b.mul(b.floorDiv(count, Lanes::index(tile)), Lanes::index(tile));
  Value start = b.first(from), mainEnd = b.first(b.add(from, whole)),
        end = b.first(b.add(from, count));
  SmallVector<Value> carried(initial);
  bool isConstant = count.isConstantIndex();
  if (!isConstant || count.offset >= tile) {
    auto main = carryingLoop(b, start, mainEnd, tile, carried,
                             [&](Value at, ArrayRef<Value> values) {
                               return body(at, tile, values);
                             });
    TW_RETURN_IF_ERROR(main.status());
    carried = *main;
  }
  if (tile > 1 && (!isConstant || count.offset % tile != 0)) {
    auto rest = carryingLoop(
        b, mainEnd, end, 1, carried,
        [&](Value at, ArrayRef<Value> values) { return body(at, 1, values); });
    TW_RETURN_IF_ERROR(rest.status());
    carried = *rest;
  }
  return carried;
}

} // namespace tilewright::families
