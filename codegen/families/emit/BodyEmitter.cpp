//===- BodyEmitter.cpp - scalar bodies, lane-wise -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// True when the operation depends on its operands alone, not on the copy.
static bool sharesCopies(KernelFrame &frame, Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return !load || !frame.registerOf(load.getSource(), 0);
}

Status BodyEmitter::emit(unsigned number, ArrayRef<Lanes> coordinates,
                         Operation *skip) {
  return emitAll(number, coordinates, [&](Operation *op) {
    return op != skip && (variant.only.empty() || variant.only.contains(op));
  });
}

Result<Lanes> BodyEmitter::emitFor(unsigned number, ArrayRef<Lanes> coordinates,
                                   Value wanted) {
  llvm::SmallPtrSet<Operation *, 16> needed = neededFor(wanted);
  TW_RETURN_IF_ERROR(emitAll(
      number, coordinates, [&](Operation *op) { return needed.contains(op); }));
  return values.lookup(wanted);
}

Status BodyEmitter::emitAll(unsigned number, ArrayRef<Lanes> coordinates,
                            llvm::function_ref<bool(Operation *)> isWanted) {
  copy = number;
  for (auto [argument, lanes] : llvm::zip(body.getArguments(), coordinates)) {
    values[argument] = lanes;
  }
  for (Operation &op : body.without_terminator()) {
    if (!isWanted(&op)) {
      continue;
    }
    SmallVector<Lanes> operands;
    for (Value operand : op.getOperands()) {
      operands.push_back(values.lookup(operand));
    }
    if (auto load = dyn_cast<LoadOp>(op); load && variant.load) {
      if (std::optional<Lanes> given = variant.load(load, copy)) {
        values[load.getResult()] = *given;
        continue;
      }
    }
    bool isShared = sharesCopies(frame, &op);
    if (isShared) {
      auto &emitted = earlier[&op];
      auto found = llvm::find_if(
          emitted, [&](const Emitted &e) { return e.operands == operands; });
      if (found != emitted.end()) {
        values[op.getResult(0)] = found->results.front();
        continue;
      }
    }
    Result<Lanes> result = emitOp(&op, operands);
    TW_RETURN_IF_ERROR(result.status());
    values[op.getResult(0)] = *result;
    if (isShared) {
      earlier[&op].push_back({operands, {*result}});
    }
  }
  return Status::ok();
}

Result<Lanes> BodyEmitter::emitOp(Operation *op, ArrayRef<Lanes> operands) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0) {
    return Status(ErrorCode::Internal, "a scalar body holds '" +
                                           op->getName().getStringRef().str() +
                                           "', which kernels cannot compute");
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    return emitLoad(load, operands);
  }
  if (auto size = dyn_cast<SizeOp>(op)) {
    return frame.size(DimExpr(size.getSize()));
  }
  if (isa<ClampIndexOp>(op)) {
    return emitClamp(operands);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (op->getResult(0).getType().isIndex()) {
      return Lanes::index(cast<IntegerAttr>(constant.getValue()).getInt());
    }
    TypedAttr value = constant.getValue();
    Type type = bodyType(value.getType());
    if (type != value.getType()) {
      value = IntegerAttr::get(
          type, cast<FloatAttr>(value).getValue().bitcastToAPInt());
    }
    return Lanes::scalar(b.create<arith::ConstantOp>(value));
  }
  if (isa<arith::BitcastOp>(op) && bodyType(op->getOperand(0).getType()) ==
                                       bodyType(op->getResult(0).getType())) {
    return operands[0];
  }
  if (std::optional<Lanes> index = emitIndexOp(op, operands)) {
    return *index;
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    return Status(ErrorCode::Internal, "a scalar body holds '" +
                                           op->getName().getStringRef().str() +
                                           "', which kernels cannot compute");
  }
  return emitClone(op, operands);
}

std::optional<Lanes> BodyEmitter::emitIndexOp(Operation *op,
                                              ArrayRef<Lanes> operands) {
  if (!op->getResult(0).getType().isIndex()) {
    return std::nullopt;
  }
  return llvm::TypeSwitch<Operation *, std::optional<Lanes>>(op)
      .Case([&](arith::AddIOp) { return b.add(operands[0], operands[1]); })
      .Case([&](arith::SubIOp) { return b.sub(operands[0], operands[1]); })
      .Case([&](arith::MulIOp) { return b.mul(operands[0], operands[1]); })
      .Case([&](arith::FloorDivSIOp) {
        return b.floorDiv(operands[0], operands[1]);
      })
      .Case([&](arith::MinSIOp) { return b.min(operands[0], operands[1]); })
      .Case([&](arith::MaxSIOp) { return b.max(operands[0], operands[1]); })
      .Case([&](arith::SelectOp) -> std::optional<Lanes> {
        const Lanes &yes = operands[1], &no = operands[2];
        bool sameSteps = !yes.isVector() && !no.isVector() &&
                         !yes.strideValue && !no.strideValue &&
                         yes.stride == no.stride;
        if (!operands[0].isUniform() || !sameSteps) {
          return std::nullopt;
        }
        Lanes result = yes;
        result.value = b.create<arith::SelectOp>(operands[0].value,
                                                 b.first(yes), b.first(no));
        result.offset = 0;
        result.alignment = std::gcd(yes.firstAlignment(), no.firstAlignment());
        return result;
      })
      .Default([](Operation *) { return std::nullopt; });
}

Result<Lanes> BodyEmitter::emitLoad(LoadOp load, ArrayRef<Lanes> operands) {
  Value source = load.getSource();
  if (const Lanes *held = frame.registerOf(source, copy)) {
    if (!load.getGuard() || variant.isInside) {
      return *held;
    }
    const Lanes &guard = operands[operands.size() - 2],
                &otherwise = operands.back();
    bool isUniform =
        held->isUniform() && guard.isUniform() && otherwise.isUniform();
    if (isUniform) {
      return Lanes::scalar(
          b.create<arith::SelectOp>(guard.value, held->value, otherwise.value));
    }
    Value condition = guard.isUniform() ? guard.value : b.asVector(guard);
    return Lanes::vector(b.create<arith::SelectOp>(condition, b.asVector(*held),
                                                   b.asVector(otherwise)));
  }
  const Memory *place = frame.memoryOf(source);
  if (!place) {
    return Status(ErrorCode::Internal,
                  "a scalar body loads a tensor that has no memory");
  }
  Memory memory = *place;
  memory.readsAhead |= load->hasAttr(readsAheadName);
  Activity activity;
  activity.lanes = activeLanes;
  // The operands are the source, the indices, the guard and its alternative.
  unsigned rank = load.getIndices().size();
  if (load.getGuard() && !variant.isInside) {
    activity.guard = operands[1 + rank].value;
    activity.otherwise = operands[2 + rank].value;
  }
  Lanes offset =
      offsetOf(frame, memory, source.getType(), operands.slice(1, rank));
  return loadLanes(frame, memory, offset, activity);
}

Lanes BodyEmitter::emitClamp(ArrayRef<Lanes> operands) {
  const Lanes &index = operands[0], &bound = operands[1];
  bool isUniform = index.isUniform() && bound.isUniform();
  Value position = isUniform ? b.first(index) : b.asVector(index);
  Value limit = isUniform ? b.first(bound) : b.asVector(bound);
  Value bad =
      b.create<arith::CmpIOp>(arith::CmpIPredicate::uge, position, limit);
  if (!isUniform) {
    if (activeLanes) {
      bad = b.create<arith::AndIOp>(bad, activeLanes);
    }
    bad = b.create<vector::ReductionOp>(vector::CombiningKind::OR, bad);
  }
  frame.reportBadIndex(bad);
  Lanes greatest = b.sub(bound, Lanes::index(1));
  return b.max(b.min(index, greatest), Lanes::index(0));
}

Lanes BodyEmitter::emitClone(Operation *op, ArrayRef<Lanes> operands) {
  bool isUniform =
      llvm::all_of(operands, [](const Lanes &l) { return l.isUniform(); });
  Operation *clone = op->clone();
  for (auto [i, lanes] : llvm::enumerate(operands)) {
    // A condition may be one scalar for all lanes.
    bool staysScalar =
        isUniform || (i == 0 && isa<arith::SelectOp>(op) && lanes.isUniform());
    clone->setOperand(i, staysScalar ? b.first(lanes) : b.asVector(lanes));
  }
  b.insert(clone);
  Value result = clone->getResult(0);
  Type type = bodyType(op->getResult(0).getType());
  result.setType(isUniform ? type : Type(b.vectorOf(type)));
  return isUniform ? Lanes::scalar(result) : Lanes::vector(result);
}

} // namespace tilewright::families
