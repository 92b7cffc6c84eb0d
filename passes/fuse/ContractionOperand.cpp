//===- ContractionOperand.cpp - maps that contractions compute ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/ContractionOperand.h"
#include "mlir/IR/Matchers.h"
#include "passes/fuse/Access.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// A parameter has so many times fewer elements, if both are known.
static constexpr int64_t parameterShare = 8;

static bool isParameter(LoadOp load, LoadOp main) {
  SmallVector<DimExpr> own = dimsOf(load.getSource().getType()),
                       whole = dimsOf(main.getSource().getType());
  std::optional<int64_t> few = productOf(load.getContext(), own).getConstant(),
                         many =
                             productOf(load.getContext(), whole).getConstant();
  if (few && (*few == 1 || many)) {
    return *few == 1 || *few * parameterShare <= *many;
  }
  return own.size() < whole.size();
}

std::optional<ElementwiseOperand> elementwiseOperandOf(MapOp map) {
  ElementwiseOperand operand;
  if (map->getNumResults() != 1 || !hasPlainCoordinates(map, operand.divided)) {
    return std::nullopt;
  }
  SmallVector<LoadOp> loads(map.getBody().getOps<LoadOp>());
  for (LoadOp load : loads) {
    if (!operand.main || isParameter(operand.main, load)) {
      operand.main = load;
    }
  }
  bool isOperand =
      operand.main && llvm::all_of(loads, [&](LoadOp load) {
        return load == operand.main || isParameter(load, operand.main);
      });
  return isOperand ? std::optional(operand) : std::nullopt;
}

/// The value of `map` where its loads give what `known` says, folded.
static Attribute evaluate(MapOp map, llvm::DenseMap<Value, Attribute> known) {
  for (Operation &op : map.getBody().front().without_terminator()) {
    if (isa<LoadOp>(op) || op.getNumResults() != 1) {
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      known[constant] = constant.getValue();
      continue;
    }
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands()) {
      operands.push_back(known.lookup(operand));
    }
    SmallVector<OpFoldResult> results;
    if (succeeded(op.fold(operands, results)) && results.size() == 1) {
      auto value = dyn_cast<Value>(results[0]);
      known[op.getResult(0)] =
          value ? known.lookup(value) : cast<Attribute>(results[0]);
    }
  }
  return known.lookup(yieldOf(map).getOperand(0));
}

/// The zero of the loaded type, then the body's integer constants in that type.
static SmallVector<TypedAttr> paddingCandidates(MapOp map, Type type) {
  Builder builder(type.getContext());
  SmallVector<TypedAttr> candidates = {builder.getZeroAttr(type)};
  if (!isa<IntegerType>(type)) {
    return candidates;
  }
  for (auto constant : map.getBody().getOps<arith::ConstantOp>()) {
    auto integer = dyn_cast<IntegerAttr>(constant.getValue());
    if (integer && isa<IntegerType>(integer.getType())) {
      unsigned width = type.getIntOrFloatBitWidth();
      candidates.push_back(
          IntegerAttr::get(type, integer.getValue().sextOrTrunc(width)));
    }
  }
  return candidates;
}

TypedAttr paddingBehind(MapOp map, const ElementwiseOperand &operand,
                        Value wanted) {
  Attribute target;
  if (!matchPattern(wanted, m_Constant(&target))) {
    return {};
  }
  Builder builder(map.getContext());
  llvm::DenseMap<Value, Attribute> known;
  for (LoadOp load : map.getBody().getOps<LoadOp>()) {
    if (!readsOneElement(load)) {
      known[load] = builder.getZeroAttr(load.getType());
    }
  }
  for (TypedAttr candidate : paddingCandidates(map, operand.main.getType())) {
    known[operand.main] = candidate;
    if (evaluate(map, known) == target) {
      return candidate;
    }
  }
  return {};
}

} // namespace tilewright
