//===- SplitDepth.cpp - more blocks for long sums -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/SplitDepth.h"
#include "codegen/families/RegionParts.h"
#include "codegen/families/attention/Attention.h"
#include "codegen/families/attention/AttentionTactics.h"
#include "codegen/families/attention/KeyParts.h"
#include "codegen/families/contract/ContractSimt.h"
#include "codegen/families/contract/MmaTactic.h"
#include "codegen/families/contract/MmaTile.h"
#include "codegen/families/rows/FoldParts.h"
#include "ir/BodyBuilder.h"
#include "ir/TensorTypes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright::tw;
using namespace tilewright::families;

namespace tilewright {

/// Builds the reduction of one part, with the part as first coordinate.
static ReduceOp buildPart(OpBuilder &builder, ReduceOp reduce,
                          unsigned coordinate, int64_t parts,
                          IRMapping &operands) {
  unsigned parallel = reduce.getParallelRank();
  SmallVector<DimExpr> domain = reduce.getDomain();
  MLIRContext *context = reduce.getContext();
  int64_t length = *domain[coordinate].getConstant() / parts;
  SmallVector<DimExpr> dims = {DimExpr::constant(context, parts)};
  dims.append(domain.begin(), domain.begin() + parallel);
  domain[coordinate] = DimExpr::constant(context, length);
  Type element = elementTypeOf(reduce.getResult().getType());
  Block &body = reduce.getBody().front();
  Value result = buildReduce(
      builder, reduce.getLoc(), reduce.getKind(), dims,
      ArrayRef(domain).drop_front(parallel), element,
      [&](BodyBuilder &b, ValueRange at) {
        IRMapping map(operands);
        for (BlockArgument argument : body.getArguments()) {
          unsigned number = argument.getArgNumber();
          Value position = at[number + 1];
          map.map(argument, number == coordinate
                                ? b.add(b.mul(at[0], length), position)
                                : position);
        }
        for (Operation &op : body.without_terminator()) {
          b.clone(op, map);
        }
        return map.lookup(yieldOf(reduce).getOperand(0));
      },
      reduce.getRoot().value_or(StringRef()));
  return result.getDefiningOp<ReduceOp>();
}

static void divide(FusedOp op, ReduceOp reduce, const DepthParts &parts) {
  OpBuilder builder(op);
  Block &old = op.getBody().front();
  SmallVector<DimExpr> dims = dimsOf(reduce.getResult().getType());
  Type element = elementTypeOf(reduce.getResult().getType());
  dims.insert(dims.begin(), DimExpr::constant(op.getContext(), parts.count));
  Type partType = tensorType(dims, element);
  FusedOp first = buildRegionLike(
      builder, op, op.getSymName() + "_parts", op.getInputs(), {partType},
      [&](OpBuilder &b, Block &block) -> SmallVector<Value> {
        IRMapping map;
        map.map(old.getArguments(), block.getArguments());
        for (ConstantOp constant : old.getOps<ConstantOp>()) {
          b.clone(*constant, map);
        }
        return {buildPart(b, reduce, parts.coordinate, parts.count, map)
                    .getResult()};
      });
  SmallVector<Value> inputs(op.getInputs());
  inputs.push_back(first.getResult(0));
  FusedOp second = buildRegionLike(
      builder, op, op.getSymName(), inputs, op.getResultTypes(),
      [&](OpBuilder &b, Block &block) {
        IRMapping map;
        map.map(old.getArguments(), block.getArguments().drop_back());
        Value all = block.getArguments().back();
        for (Operation &inner : old.without_terminator()) {
          if (&inner != reduce.getOperation()) {
            b.clone(inner, map);
            continue;
          }
          Value sum = buildReduce(
              b, reduce.getLoc(), reduce.getKind(),
              dimsOf(reduce.getResult().getType()), {dims.front()}, element,
              [&](BodyBuilder &body, ValueRange at) {
                SmallVector<Value> position = {at.back()};
                llvm::append_range(position, at.drop_back());
                return body.load(all, position);
              },
              "parts");
          map.map(reduce.getResult(), sum);
        }
        SmallVector<Value> results;
        for (Value value : yieldOf(op).getOperands()) {
          results.push_back(map.lookup(value));
        }
        return results;
      });
  op.replaceAllUsesWith(second.getResults());
  op.erase();
}

static void splitKeys(FusedOp op, const FusedRegion &region,
                      const TargetSpec &target, DecisionLog &log) {
  if (std::optional<int64_t> parts = chooseKeyParts(op, target)) {
    log.did("TWT004", op.getLoc(),
            "region " + op.getSymName().str() + ": its keys are divided into " +
                std::to_string(*parts) + " parts");
    divideKeys(op, attentionOf(region), *parts);
  }
}

Status splitDepth(ModuleOp module, const TargetSpec &target, DecisionLog &log) {
  SmallVector<FusedOp> regions;
  module.walk([&](FusedOp op) {
    if (!op->hasAttr(libraryAttr)) {
      regions.push_back(op);
    }
  });
  for (FusedOp op : regions) {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    if (region->form == Form::Attention) {
      splitKeys(op, *region, target, log);
      continue;
    }
    std::optional<DepthParts> parts;
    if (Refusal refusal; !MmaContract().applicable(op, target)) {
      parts =
          chooseMmaParts(*matchMatrixProduct(*region, refusal), *target.gpu);
    } else if (region->form == Form::Reduce && !refuseContractSimt(*region)) {
      parts = chooseSimtParts(*matchSumOfProducts(*region), *target.gpu);
    } else {
      parts = chooseFoldParts(*region, *target.gpu);
    }
    if (!parts) {
      continue;
    }
    log.did("TWT003", op.getLoc(),
            "region " + op.getSymName().str() + ": its depth is divided into " +
                std::to_string(parts->count) + " parts");
    divide(op, region->getReduce(), *parts);
  }
  return Status::ok();
}

} // namespace tilewright
