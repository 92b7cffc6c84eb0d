//===- TaskLoop.cpp - tasks of a kernel -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/TaskLoop.h"
#include "codegen/families/emit/IndexMath.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::families {

Status emitLoop(LaneBuilder &b, Value from, Value to, int64_t step,
                llvm::function_ref<Status(Value)> body) {
  auto loop = b.create<scf::ForOp>(from, to, b.constantIndex(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  return body(loop.getInductionVar());
}

Result<scf::ForOp> emitSharedLoop(LaneBuilder &b, Value thread, int64_t count,
                                  int64_t threads, int64_t together,
                                  llvm::function_ref<Status(Value)> body) {
  auto loop = b.create<scf::ForOp>(thread, b.constantIndex(count),
                                   b.constantIndex(threads * together));
  loop->setAttr(twk::nameAttr, b.getStringAttr("first"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto inner = b.create<scf::ForOp>(
      b.constantIndex(0), b.constantIndex(together), b.constantIndex(1));
  inner->setAttr(twk::nameAttr, b.getStringAttr("i"));
  inner->setAttr(twk::unrollAttr, b.getUnitAttr());
  b.setInsertionPointToStart(inner.getBody());
  IndexMath math(b);
  TW_RETURN_IF_ERROR(body(math.plus(
      loop.getInductionVar(), math.times(inner.getInductionVar(), threads))));
  return loop;
}

Status emitIf(LaneBuilder &b, Value condition,
              llvm::function_ref<Status()> body) {
  auto branch = b.create<scf::IfOp>(condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  return body();
}

Status emitTaskLoop(KernelFrame &frame, ArrayRef<Lanes> counts,
                    llvm::function_ref<Status(ArrayRef<Value>)> body) {
  LaneBuilder &b = frame.getBuilder();
  auto decode = [&](Value task) {
    SmallVector<Value> coordinates(counts.size());
    Value rest = task;
    for (size_t i = counts.size(); i-- > 0;) {
      if (counts[i].isConstantIndex() && counts[i].offset == 1) {
        coordinates[i] = b.constantIndex(0);
        continue;
      }
      if (i == 0) {
        coordinates[i] = rest;
        continue;
      }
      Value count = b.first(counts[i]);
      coordinates[i] = b.create<arith::RemUIOp>(rest, count);
      rest = b.create<arith::DivUIOp>(rest, count);
    }
    return body(coordinates);
  };
  twk::KernelOp kernel = frame.getKernel();
  if (!frame.isSimt()) {
    return emitLoop(b, kernel.getBegin(), kernel.getEnd(), 1, decode);
  }
  Lanes total = Lanes::index(1);
  for (const Lanes &count : counts) {
    total = b.mul(total, count);
  }
  Value stride = b.named("stride", frame.teamsOfGrid());
  auto loop = b.create<scf::ForOp>(frame.teamOfGrid(), b.first(total), stride);
  loop->setAttr(twk::nameAttr, b.getStringAttr("task"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  TW_RETURN_IF_ERROR(decode(loop.getInductionVar()));
  if (frame.sharedBytes() > 0) { // the next task writes there again
    b.create<gpu::BarrierOp>();
  }
  return Status::ok();
}

} // namespace tilewright::families
