//===- Guards.cpp - loops of a reduction that stay inside -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/KernelFrame.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// A run of inner loops with fewer steps than this is short.
constexpr int64_t shortRun = 16;

llvm::SmallPtrSet<Operation *, 16> neededFor(ArrayRef<Value> values) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    bool isInBody = op && isPrimitive(op->getParentOp());
    if (isInBody && needed.insert(op).second) {
      llvm::append_range(work, op->getOperands());
    }
  }
  return needed;
}

bool dependsOn(Value value, BlockArgument coordinate) {
  if (value == coordinate) {
    return true;
  }
  return llvm::any_of(neededFor(value), [&](Operation *op) {
    return llvm::is_contained(op->getOperands(), Value(coordinate));
  });
}

/// True for sums of coordinates times constants and sizes.
static bool isAffine(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<arith::ConstantOp, SizeOp>(op)) {
    return true;
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    return isAffine(op->getOperand(0)) && isAffine(op->getOperand(1));
  }
  auto isFixed = [](Value factor) {
    return isa_and_nonnull<arith::ConstantOp, SizeOp>(factor.getDefiningOp());
  };
  return isa<arith::MulIOp>(op) &&
         ((isFixed(op->getOperand(1)) && isAffine(op->getOperand(0))) ||
          (isFixed(op->getOperand(0)) && isAffine(op->getOperand(1))));
}

/// True if the positions where `guard` holds are a convex set: `x < n` without
/// signs says that 0 <= x < n.
static bool isConvexGuard(Value guard) {
  if (auto both = guard.getDefiningOp<arith::AndIOp>()) {
    return isConvexGuard(both.getLhs()) && isConvexGuard(both.getRhs());
  }
  auto compare = guard.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isIndex()) {
    return false;
  }
  Operation *bound = compare.getRhs().getDefiningOp();
  return compare.getPredicate() == arith::CmpIPredicate::ult &&
         isa_and_nonnull<arith::ConstantOp, SizeOp>(bound) &&
         isAffine(compare.getLhs());
}

GuardPlan guardPlanOf(ReduceOp reduce, const TileDomain &domain,
                      ArrayRef<TileAxis> reduction, int64_t vectorAxis,
                      bool innerVector) {
  GuardPlan plan;
  Block &body = reduce.getBody().front();
  unsigned rank = reduce.getParallelRank();
  plan.isConvex = plan.isMask = true;
  auto varies = [&](LoadOp load, const TileAxis &axis, unsigned first) {
    return dependsOn(load.getGuard(), body.getArgument(first + axis.last));
  };
  for (LoadOp load : body.getOps<LoadOp>()) {
    if (!load.getGuard()) {
      continue;
    }
    bool variesAlongLanes =
        (vectorAxis >= 0 && varies(load, domain.parallel[vectorAxis], 0)) ||
        (innerVector && varies(load, reduction.back(), rank)) ||
        llvm::any_of(neededFor(load.getGuard()),
                     [](Operation *op) { return isa<LoadOp>(op); });
    if (variesAlongLanes) {
      return {};
    }
    plan.loads.push_back(load);
    plan.isMask &=
        vectorAxis >= 0 &&
        movementOf(load, body.getArgument(domain.parallel[vectorAxis].last),
                   1) == Movement::Contiguous;
    plan.isConvex &= isConvexGuard(load.getGuard());
  }
  plan.plainFrom = reduction.size();
  while (plan.plainFrom > 0 && llvm::none_of(plan.loads, [&](LoadOp load) {
           return varies(load, reduction[plan.plainFrom - 1], rank);
         })) {
    --plan.plainFrom;
  }
  int64_t steps = 1;
  for (const TileAxis &axis : reduction.drop_front(plan.plainFrom)) {
    steps *= std::min(axis.extent.getConstant().value_or(shortRun), shortRun);
  }
  plan.isShort = steps < shortRun;
  return plan;
}

SmallVector<PadRun> padRunsOf(ReduceOp reduce, const TileDomain &domain,
                              ArrayRef<TileAxis> reduction,
                              const GuardPlan &plan, int64_t vectorAxis,
                              bool innerVector) {
  SmallVector<PadRun> runs;
  if (plan.isShort || innerVector || plan.plainFrom + 1 != reduction.size()) {
    return runs;
  }
  Block &body = reduce.getBody().front();
  const TileAxis &inner = reduction.back();
  BlockArgument step = body.getArgument(reduce.getParallelRank() + inner.last);
  for (LoadOp load : plan.loads) {
    bool isScalar =
        vectorAxis < 0 ||
        movementOf(load, body.getArgument(domain.parallel[vectorAxis].last),
                   1) == Movement::None;
    Type type = load.getOtherwise().getType();
    bool isFixed =
        matchPattern(load.getOtherwise(), m_Constant()) &&
        storageType(elementTypeOf(load.getSource().getType())) == type;
    if (isScalar && isFixed &&
        movementOf(load, step, 1) == Movement::Contiguous) {
      runs.push_back({load, inner.extent});
    }
  }
  return runs;
}

} // namespace tilewright::families
