//===- ControlFlow.cpp - If and Loop --------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/LoopBuilder.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

static Status checkCondition(NodeImport &node, size_t input) {
  TW_RETURN_IF_ERROR(requireBool(node, input));
  if (!tw::productOf(node.context(), node.dims(input)).isConstant(1)) {
    return node.error(ErrorCode::ShapeMismatch,
                      "the condition must be one element, not " +
                          textOf(node.dims(input)));
  }
  return Status::ok();
}

static Status checkOutputs(NodeImport &node, ArrayRef<ImportedValue> outputs,
                           size_t wanted) {
  if (outputs.size() < wanted) {
    return node.error(ErrorCode::ModelInvalid,
                      "a subgraph has " + Twine(outputs.size()) +
                          " outputs, not " + Twine(wanted));
  }
  for (const ImportedValue &value : outputs) {
    if (!value.tensor) {
      return node.error(
          ErrorCode::UnsupportedType,
          "sequences and optionals in subgraphs are not supported");
    }
  }
  return Status::ok();
}

/// The condition is known: the branch stands in place of the node.
static Status importBranchInPlace(NodeImport &node,
                                  const onnx::GraphProto &branch) {
  Result<Values> results = node.graph().importGraph(branch, {});
  if (!results) {
    return results.status();
  }
  TW_RETURN_IF_ERROR(checkOutputs(node, *results, node.numOutputs()));
  for (size_t i = 0; i < node.numOutputs(); ++i) {
    node.setOutput(i, (*results)[i].tensor, (*results)[i].elements);
  }
  return Status::ok();
}

/// Imports a branch into `region`; its outputs are yielded.
static Result<Values>
importBranch(NodeImport &node, const onnx::GraphProto &branch, Region &region) {
  OpBuilder &builder = node.builder();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&region.emplaceBlock());
  Result<Values> results = node.graph().importGraph(branch, {});
  if (!results) {
    return results;
  }
  TW_RETURN_IF_ERROR(checkOutputs(node, *results, node.numOutputs()));
  results->truncate(node.numOutputs());
  SmallVector<Value> yielded;
  for (const ImportedValue &value : *results) {
    yielded.push_back(value.tensor);
  }
  tw::YieldOp::create(builder, node.loc(), yielded);
  return results;
}

/// The type of a result of both branches: sizes that differ become symbols.
static Result<Type> mergedType(NodeImport &node, Type a, Type b,
                               SmallVector<StringRef> &defines) {
  Dims left = tw::dimsOf(a), right = tw::dimsOf(b), dims;
  if (tw::elementTypeOf(a) != tw::elementTypeOf(b)) {
    return node.error(ErrorCode::TypeMismatch,
                      "the branches give elements of types " +
                          textOf(tw::elementTypeOf(a)) + " and " +
                          textOf(tw::elementTypeOf(b)));
  }
  if (left.size() != right.size()) {
    return node.error(ErrorCode::UnsupportedShape,
                      "the branches give tensors of rank " +
                          Twine(left.size()) + " and " + Twine(right.size()));
  }
  for (auto [x, y] : llvm::zip(left, right)) {
    if (node.graph().simplify(x) == node.graph().simplify(y)) {
      dims.push_back(x);
      continue;
    }
    dims.push_back(node.freshSymbol());
    defines.push_back(dims.back().symbolName());
  }
  return Type(tw::tensorType(dims, tw::elementTypeOf(a)));
}

/// What both branches agree on.
static std::optional<Dims> mergedElements(const ImportedValue &a,
                                          const ImportedValue &b) {
  if (!a.elements || !b.elements || a.elements->size() != b.elements->size()) {
    return std::nullopt;
  }
  Dims merged;
  for (auto [x, y] : llvm::zip(*a.elements, *b.elements)) {
    merged.push_back(x == y ? x : DimExpr());
  }
  return merged;
}

namespace {

/// A condition that compares two sizes.
struct SizeComparison {
  DimExpr difference; // the sizes are equal where it is zero
  bool equalMeansTrue;
};

/// The branches of an If before it is built.
struct Branches {
  Region thenRegion, elseRegion;
  Values thenValues, elseValues;
  SmallVector<Type> types;
  SmallVector<StringRef> defines;
};

} // namespace

/// Takes a condition `select(difference, 0, 1)`, or its negation, apart.
static std::optional<SizeComparison> sizeComparison(NodeImport &node) {
  std::optional<Dims> known = node.elements(0);
  if (!known) {
    return std::nullopt;
  }
  DimExpr condition = known->front();
  bool equalMeansTrue = true;
  while (condition.kind() == DimExpr::Kind::Select) {
    SmallVector<DimExpr, 4> operands = condition.operands();
    if (!operands[1].isConstant(0) || !operands[2].isConstant(1)) {
      return std::nullopt;
    }
    if (operands[0].kind() != DimExpr::Kind::Select) {
      return SizeComparison{operands[0], equalMeansTrue};
    }
    condition = operands[0];
    equalMeansTrue = !equalMeansTrue;
  }
  return std::nullopt;
}

static Status importBranches(NodeImport &node,
                             const onnx::GraphProto &thenGraph,
                             const onnx::GraphProto &elseGraph,
                             Branches &branches) {
  Result<Values> thenValues =
      importBranch(node, thenGraph, branches.thenRegion);
  if (!thenValues) {
    return thenValues.status();
  }
  Result<Values> elseValues =
      importBranch(node, elseGraph, branches.elseRegion);
  if (!elseValues) {
    return elseValues.status();
  }
  for (auto [a, b] : llvm::zip(*thenValues, *elseValues)) {
    Result<Type> type = mergedType(node, a.tensor.getType(), b.tensor.getType(),
                                   branches.defines);
    if (!type) {
      return type.status();
    }
    branches.types.push_back(*type);
  }
  branches.thenValues = *thenValues;
  branches.elseValues = *elseValues;
  return Status::ok();
}

static Status importIf(NodeImport &node) {
  TW_RETURN_IF_ERROR(checkCondition(node, 0));
  const onnx::GraphProto *thenGraph = node.graphAttribute("then_branch");
  const onnx::GraphProto *elseGraph = node.graphAttribute("else_branch");
  if (!thenGraph || !elseGraph) {
    return node.error(ErrorCode::AttributeInvalid, "a branch is missing");
  }
  if (std::optional<SmallVector<int64_t>> known = node.constantElements(0)) {
    return importBranchInPlace(node, known->front() ? *thenGraph : *elseGraph);
  }
  Branches branches;
  Status status = importBranches(node, *thenGraph, *elseGraph, branches);
  if (!status) {
    // PyTorch's squeeze(axis) becomes `size == 1 ? Squeeze(x) : x`, whose rank
    // no type can hold: the sizes are taken as equal, which the run checks.
    std::optional<SizeComparison> comparison = sizeComparison(node);
    if (!comparison) {
      return status;
    }
    node.requireZero(comparison->difference);
    return importBranchInPlace(node, comparison->equalMeansTrue ? *thenGraph
                                                                : *elseGraph);
  }
  OpBuilder &builder = node.builder();
  ArrayAttr symbols = branches.defines.empty()
                          ? ArrayAttr()
                          : builder.getStrArrayAttr(branches.defines);
  auto op = tw::IfOp::create(builder, node.loc(), branches.types, node.input(0),
                             symbols);
  op.getThenRegion().takeBody(branches.thenRegion);
  op.getElseRegion().takeBody(branches.elseRegion);
  for (size_t i = 0; i < node.numOutputs(); ++i) {
    node.setOutput(
        i, op.getResult(i),
        mergedElements(branches.thenValues[i], branches.elseValues[i]));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

static Status importLoop(NodeImport &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  if (!body) {
    return node.error(ErrorCode::AttributeInvalid, "the body is missing");
  }
  LoopBuilder loop(node);
  if (node.hasInput(0)) {
    TW_RETURN_IF_ERROR(requireInteger(node, 0));
    if (!tw::productOf(node.context(), node.dims(0)).isConstant(1)) {
      return node.error(ErrorCode::ShapeMismatch,
                        "the trip count must be one element");
    }
    loop.setTripCount(node.input(0), node.elements(0));
  }
  if (node.hasInput(1)) {
    TW_RETURN_IF_ERROR(checkCondition(node, 1));
    loop.setCondition(node.input(1), node.constantElements(1));
  }
  size_t carried = node.numInputs() > 2 ? node.numInputs() - 2 : 0;
  for (size_t i = 0; i < carried; ++i) {
    if (!node.hasInput(i + 2)) {
      return node.error(ErrorCode::UnsupportedType,
                        "optional loop variables are not supported");
    }
    loop.carry(node.input(i + 2));
  }
  Result<SmallVector<Value>> results =
      loop.build(node.numOutputs() - std::min(carried, node.numOutputs()),
                 [&](ArrayRef<ImportedValue> arguments) {
                   return node.graph().importGraph(*body, arguments);
                 });
  if (!results) {
    return results.status();
  }
  for (size_t i = 0; i < node.numOutputs(); ++i) {
    node.setOutput(i, (*results)[i]);
  }
  return Status::ok();
}

static constexpr OperatorEntry entries[] = {
    {"", "If", 1, importIf},
    {"", "Loop", 1, importLoop},
};

OperatorFamily controlFlowOperators() { return entries; }

} // namespace tilewright::frontend
