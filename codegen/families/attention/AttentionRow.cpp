//===- AttentionRow.cpp - one row of attention after the other ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The reference: the primitives in their order, each over a whole row, floats
// accumulated in f64, on a GPU in f32.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/AttentionKernel.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/Reduction.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// What exists for each key of a row: the scores, their maps and the weights.
static SmallVector<Operation *> perKey(const AttentionForm &form) {
  SmallVector<Operation *> result;
  for (Operation *op : form.members()) {
    bool isRow = op == form.max || op == form.sum || op == form.values ||
                 llvm::is_contained(form.rowMaps, op) ||
                 llvm::is_contained(form.epilogue, op);
    if (!isRow) {
      result.push_back(op);
    }
  }
  return result;
}

static DimExpr bufferElements(const AttentionForm &form) {
  constexpr int64_t lineFloats = 16;
  DimExpr keys = ReduceOp(form.max).getExtents().getDims().front();
  return keys.ceilDiv(lineFloats) * lineFloats;
}

DimExpr attentionRowBytes(const AttentionForm &form) {
  constexpr int64_t floatBytes = 4;
  return bufferElements(form) *
         (floatBytes * static_cast<int64_t>(perKey(form).size()));
}

namespace {

class RowReference {
public:
  RowReference(KernelFrame &frame, const AttentionForm &form)
      : frame(frame), b(frame.getBuilder()), form(form) {}

  Status run(ArrayRef<Value> at);

private:
  Result<Lanes> reduction(ReduceOp reduce, ArrayRef<Lanes> at);
  Result<Lanes> element(Operation *op, ArrayRef<Lanes> at);
  Status overKeys(Operation *op);
  Status results();

  KernelFrame &frame;
  LaneBuilder &b;
  const AttentionForm &form;
  SmallVector<Lanes> row;
};

} // namespace

Result<Lanes> RowReference::reduction(ReduceOp reduce, ArrayRef<Lanes> at) {
  ReductionPlan plan;
  plan.op = reduce;
  plan.axes = plainAxes(reduce.getExtents().getDims());
  plan.wide = !frame.isSimt();
  SmallVector<SmallVector<Lanes>> copies = {SmallVector<Lanes>(at)};
  Result<SmallVector<Lanes>> values =
      emitReduction(frame, plan, copies, Value());
  TW_RETURN_IF_ERROR(values.status());
  return values->front();
}

Result<Lanes> RowReference::element(Operation *op, ArrayRef<Lanes> at) {
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    return reduction(reduce, at);
  }
  BodyEmitter emitter(frame, op->getRegion(0).front(), Value());
  TW_RETURN_IF_ERROR(emitter.emit(0, at));
  return emitter.get(yieldOf(op).getOperand(0));
}

Status RowReference::overKeys(Operation *op) {
  Value tensor = op->getResult(0);
  const Memory *memory = frame.memoryOf(tensor);
  Value keys =
      frame.sizeValue(ReduceOp(form.max).getExtents().getDims().front());
  return emitLoop(b, b.constantIndex(0), keys, 1, [&](Value key) {
    SmallVector<Lanes> at(row);
    at.push_back(Lanes::index(key));
    Result<Lanes> value = element(op, at);
    TW_RETURN_IF_ERROR(value.status());
    storeLanes(frame, *memory, Lanes::index(key), *value, Value());
    return Status::ok();
  });
}

Status RowReference::results() {
  DimExpr extent = dimsOf(ReduceOp(form.values).getType())[form.valueAxis];
  return emitLoop(
      b, b.constantIndex(0), frame.sizeValue(extent), 1, [&](Value number) {
        SmallVector<Lanes> at(row.size() + 1);
        for (auto [coordinate, axis] : llvm::zip(row, form.rowAxes)) {
          at[axis] = coordinate;
        }
        at[form.valueAxis] = Lanes::index(number);
        SmallVector<Operation *> last = {form.values};
        last.append(form.epilogue.begin(), form.epilogue.end());
        for (Operation *op : last) {
          Value tensor = op->getResult(0);
          Result<Lanes> value = element(op, at);
          TW_RETURN_IF_ERROR(value.status());
          frame.setRegister(tensor, 0, *value);
          for (const Memory &memory : frame.outputsOf(tensor)) {
            storeLanes(frame, memory,
                       offsetOf(frame, memory, tensor.getType(), at), *value,
                       Value());
          }
        }
        return Status::ok();
      });
}

Status RowReference::run(ArrayRef<Value> at) {
  constexpr int64_t floatBytes = 4;
  for (Value coordinate : at) {
    row.push_back(Lanes::index(coordinate));
  }
  Lanes keys = frame.size(ReduceOp(form.max).getExtents().getDims().front());
  Lanes bytes = frame.wholeLines(b.mul(keys, Lanes::index(floatBytes)));
  Lanes elements = b.floorDiv(bytes, Lanes::index(floatBytes));
  auto count = static_cast<int64_t>(perKey(form).size());
  Value workspace = frame.workspace(b.mul(bytes, Lanes::index(count)));
  Lanes offset = Lanes::index(0);
  for (Operation *op : perKey(form)) {
    Type element = elementTypeOf(op->getResult(0).getType());
    auto type = MemRefType::get({ShapedType::kDynamic}, storageType(element));
    Value view = b.create<memref::ViewOp>(type, workspace, b.first(offset),
                                          ValueRange(b.first(elements)));
    frame.setMemory(op->getResult(0),
                    {view, element, static_cast<unsigned>(row.size())});
    offset = b.add(offset, bytes);
  }
  SmallVector<Operation *> keyed = perKey(form);
  for (Operation *op : form.members()) {
    if (llvm::is_contained(keyed, op)) {
      TW_RETURN_IF_ERROR(overKeys(op));
    } else if (op != form.values && !llvm::is_contained(form.epilogue, op)) {
      Result<Lanes> value = element(op, row);
      TW_RETURN_IF_ERROR(value.status());
      Value tensor = op->getResult(0);
      frame.setRegister(tensor, 0, *value);
      for (const Memory &memory : frame.outputsOf(tensor)) {
        storeLanes(frame, memory,
                   offsetOf(frame, memory, tensor.getType(), row), *value,
                   Value());
      }
    }
  }
  TW_RETURN_IF_ERROR(results());
  frame.clearRegisters();
  return Status::ok();
}

Status emitAttentionRow(KernelFrame &frame, const AttentionForm &form,
                        ArrayRef<Value> row) {
  return RowReference(frame, form).run(row);
}

} // namespace tilewright::families
