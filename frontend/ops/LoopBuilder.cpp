//===- LoopBuilder.cpp - building tw.loop ---------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/LoopBuilder.h"

#include "frontend/ops/Common.h"

using namespace mlir;

namespace tilewright::frontend {

Value LoopBuilder::scalar(Value tensor) {
  return tw::buildReshape(node.builder(), node.loc(), tensor, {});
}

void LoopBuilder::setTripCount(Value tensor, std::optional<Dims> known) {
  tripCount = scalar(castTensor(node, tensor, node.builder().getI64Type()));
  if (known) {
    knownTrips = known->front().max(node.constant(0));
  }
}

void LoopBuilder::setCondition(Value tensor,
                               std::optional<SmallVector<int64_t>> known) {
  condition = scalar(tensor);
  startsTrue = known && known->front() != 0;
}

DimExpr LoopBuilder::define() {
  DimExpr symbol = node.freshSymbol();
  defines.push_back(symbol.symbolName());
  return symbol;
}

/// Imports the body into `region` for arguments of `argumentTypes`.
Result<Values> LoopBuilder::tryBody(Region &region, Body importBody) {
  OpBuilder &builder = node.builder();
  OpBuilder::InsertionGuard guard(builder);
  Block &block = region.emplaceBlock();
  builder.setInsertionPointToStart(&block);
  Type iteration = RankedTensorType::get({}, builder.getI64Type());
  Type flag = RankedTensorType::get({}, builder.getI1Type());
  Values arguments = {{block.addArgument(iteration, node.loc()), {}},
                      {block.addArgument(flag, node.loc()), {}}};
  if (startsTrue) {
    // A body runs only while the condition is true.
    arguments[1].elements = Dims{node.constant(1)};
  }
  for (Type type : argumentTypes) {
    arguments.push_back({block.addArgument(type, node.loc()), {}});
  }
  Result<Values> yielded = importBody(arguments);
  if (!yielded) {
    return yielded;
  }
  SmallVector<Value> operands;
  for (ImportedValue &value : *yielded) {
    if (!value.tensor) {
      return node.error(ErrorCode::UnsupportedType,
                        "sequences and optionals in a body are not supported");
    }
    operands.push_back(value.tensor);
  }
  if (yielded->size() < carried.size() + 1) {
    return node.error(ErrorCode::ModelInvalid,
                      "the body has " + Twine(yielded->size()) +
                          " outputs for " + Twine(carried.size()) +
                          " loop variables and the condition");
  }
  if (!tw::elementTypeOf(operands[0].getType()).isInteger(1) ||
      !tw::elementCount(operands[0].getType()).isConstant(1)) {
    return node.error(ErrorCode::TypeMismatch,
                      "the body's condition must be one bool");
  }
  staysTrue = yielded->front().elements && yielded->front().elements->front() &&
              yielded->front().elements->front().isConstant(1);
  operands[0] = scalar(operands[0]);
  tw::YieldOp::create(builder, node.loc(), operands);
  return yielded;
}

/// Puts symbols in place of the sizes that an iteration changes. \returns
/// whether there were such.
Result<bool> LoopBuilder::adaptTypes(ArrayRef<ImportedValue> yielded) {
  bool changed = false;
  for (auto [i, type] : llvm::enumerate(argumentTypes)) {
    Type other = yielded[i + 1].tensor.getType();
    Dims dims = tw::dimsOf(type), next = tw::dimsOf(other);
    if (tw::elementTypeOf(type) != tw::elementTypeOf(other) ||
        dims.size() != next.size()) {
      return node.error(
          ErrorCode::UnsupportedShape,
          "the loop variable " + Twine(i) +
              " changes its element type or rank: from " + textOf(dims) +
              " of " + textOf(tw::elementTypeOf(type)) + " to " + textOf(next) +
              " of " + textOf(tw::elementTypeOf(other)));
    }
    for (auto [dim, after] : llvm::zip(dims, next)) {
      if (dim != after && !llvm::is_contained(defines, dim.symbolName())) {
        dim = define();
        changed = true;
      }
    }
    type = tw::tensorType(dims, tw::elementTypeOf(type));
  }
  return changed;
}

SmallVector<Type> LoopBuilder::resultTypes(ArrayRef<ImportedValue> yielded) {
  SmallVector<StringRef> inner = defines;
  auto isInner = [&](DimExpr dim) {
    bool found = false;
    dim.forEachSymbol([&](StringRef name) {
      found |= llvm::is_contained(inner, name) ||
               node.graph().isSymbolAfter(name, firstInnerSymbol);
    });
    return found;
  };
  SmallVector<Type> types;
  for (size_t i = 1; i < yielded.size(); ++i) {
    Type type = yielded[i].tensor.getType();
    Dims dims;
    if (i > carried.size()) {
      bool isFixed = knownTrips && startsTrue && staysTrue;
      dims.push_back(isFixed ? knownTrips : define());
    }
    for (DimExpr dim : tw::dimsOf(type)) {
      dims.push_back(isInner(dim) ? define() : dim);
    }
    types.push_back(tw::tensorType(dims, tw::elementTypeOf(type)));
  }
  return types;
}

Result<SmallVector<Value>> LoopBuilder::build(size_t stacks, Body importBody) {
  for (Value value : carried) {
    argumentTypes.push_back(value.getType());
  }
  firstInnerSymbol = node.graph().symbolMark();
  Values yielded;
  Region body;
  for (bool changed = true; changed;) {
    body.getBlocks().clear();
    Result<Values> attempt = tryBody(body, importBody);
    if (!attempt) {
      return attempt.status();
    }
    yielded = *attempt;
    Result<bool> adapted = adaptTypes(yielded);
    if (!adapted) {
      return adapted.status();
    }
    changed = *adapted;
  }
  if (yielded.size() != carried.size() + stacks + 1) {
    return node.error(ErrorCode::ModelInvalid,
                      "the body has " + Twine(yielded.size()) +
                          " outputs, not " +
                          Twine(carried.size() + stacks + 1));
  }
  SmallVector<Type> types = resultTypes(yielded);
  OpBuilder &builder = node.builder();
  ArrayAttr symbols =
      defines.empty() ? ArrayAttr() : builder.getStrArrayAttr(defines);
  auto loop = tw::LoopOp::create(builder, node.loc(), types, tripCount,
                                 condition, carried, symbols);
  loop.getBody().takeBody(body);
  return SmallVector<Value>(loop.getResults());
}

} // namespace tilewright::frontend
