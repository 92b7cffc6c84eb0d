//===- Irregular.cpp - operators that run as builtins ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The sizes of their results depend on data: the builtin defines a symbol.
// runtime/builtins/README.md lists the operands.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"

using namespace mlir;

namespace tilewright::frontend {

/// Builds a call; null `inputs` are those left out. `defined` is the symbol
/// that the builtin sets, or any other expression where there is none.
static SmallVector<Value> call(NodeImport &node, llvm::StringRef callee,
                               ArrayRef<Value> inputs, TypeRange results,
                               ArrayRef<int64_t> ints, DimExpr defined) {
  SmallVector<bool> present;
  SmallVector<Value> operands;
  for (Value input : inputs) {
    present.push_back(static_cast<bool>(input));
    if (input) {
      operands.push_back(input);
    }
  }
  OpBuilder &builder = node.builder();
  ArrayAttr defines;
  if (llvm::StringRef symbol = defined.symbolName(); !symbol.empty()) {
    defines = builder.getStrArrayAttr(symbol);
  }
  auto op = tw::CallOp::create(builder, node.loc(), results, callee, operands,
                               present, ints, ArrayRef<double>(), ArrayAttr(),
                               defines);
  return SmallVector<Value>(op.getResults());
}

static Type integersOf(NodeImport &node, ArrayRef<DimExpr> dims) {
  return tw::tensorType(dims, node.builder().getI64Type());
}

static Status importNonZero(NodeImport &node) {
  DimExpr count = node.freshSymbol();
  Type type = integersOf(node, {node.constant(node.rank(0)), count});
  node.setOutput(0, call(node, "nonzero", node.input(0), type, {}, count)[0]);
  return Status::ok();
}

/// The attribute `axis`, in range; nullopt where it is left out.
static Result<std::optional<int64_t>> optionalAxis(NodeImport &node) {
  if (!node.hasAttribute("axis")) {
    return std::optional<int64_t>();
  }
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
  if (!axis) {
    return axis.status();
  }
  return std::optional(*axis);
}

/// The dims of input 0 with `count` on the axis, or `count` alone.
static Dims chosenDims(NodeImport &node, std::optional<int64_t> axis,
                       DimExpr count) {
  if (!axis) {
    return {count};
  }
  Dims dims = node.dims(0);
  dims[*axis] = count;
  return dims;
}

static Status importCompress(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireBool(node, 1));
  TW_RETURN_IF_ERROR(requireRank(node, 1, 1));
  Result<std::optional<int64_t>> axis = optionalAxis(node);
  if (!axis) {
    return axis.status();
  }
  DimExpr count = node.freshSymbol();
  SmallVector<int64_t> ints;
  if (*axis) {
    ints.push_back(**axis);
  }
  Type type = tw::tensorType(chosenDims(node, *axis, count), node.element(0));
  node.setOutput(0,
                 call(node, "compress", node.inputs(), type, ints, count)[0]);
  return Status::ok();
}

static Status importUnique(NodeImport &node) {
  Result<std::optional<int64_t>> axis = optionalAxis(node);
  if (!axis) {
    return axis.status();
  }
  SmallVector<int64_t> ints = {node.intAttribute("sorted", 1)};
  DimExpr count = node.freshSymbol();
  DimExpr all = tw::productOf(node.context(), node.dims(0));
  if (*axis) {
    ints.push_back(**axis);
    all = node.dims(0)[**axis];
  }
  SmallVector<Type> types = {
      tw::tensorType(chosenDims(node, *axis, count), node.element(0)),
      integersOf(node, count), integersOf(node, all), integersOf(node, count)};
  SmallVector<Value> results =
      call(node, "unique", node.input(0), types, ints, count);
  for (auto [i, result] : llvm::enumerate(results)) {
    node.setOutput(i, result);
  }
  return Status::ok();
}

static Status importTopK(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  Result<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -1), node.rank(0));
  if (!axis) {
    return axis.status();
  }
  DimExpr count;
  Value tensor;
  if (node.version() < 10) {
    count = node.constant(node.intAttribute("k", 0));
    tensor =
        tw::buildConstant(node.builder(), node.loc(), *count.getConstant());
  } else {
    TW_RETURN_IF_ERROR(requireInteger(node, 1));
    if (!tw::productOf(node.context(), node.dims(1)).isConstant(1)) {
      return node.error(ErrorCode::ShapeMismatch, "k must be one element");
    }
    tensor = node.input(1);
    std::optional<Dims> known = node.elements(1);
    count = known ? known->front() : DimExpr();
  }
  // Without a known size the builtin defines it.
  DimExpr defined = count ? node.constant(0) : node.freshSymbol();
  Dims dims = node.dims(0);
  int64_t least = count ? count.getConstant().value_or(0) : 0;
  if (least < 0 || least > dims[*axis].getConstant().value_or(least)) {
    return node.error(ErrorCode::ShapeMismatch,
                      "there are no " + Twine(least) +
                          " elements in an axis of size " +
                          dims[*axis].toString());
  }
  dims[*axis] = count ? count : defined;
  SmallVector<Type> types = {tw::tensorType(dims, node.element(0)),
                             integersOf(node, dims)};
  SmallVector<Value> results = call(
      node, "topk", {node.input(0), tensor}, types,
      {*axis, node.intAttribute("largest", 1), node.intAttribute("sorted", 1)},
      defined);
  node.setOutput(0, results[0]);
  node.setOutput(1, results[1]);
  return Status::ok();
}

static Status importNonMaxSuppression(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRank(node, 0, 3));
  TW_RETURN_IF_ERROR(requireRank(node, 1, 3));
  for (size_t i : {0, 1, 3, 4}) {
    if (node.hasInput(i) && !node.element(i).isF32()) {
      return node.error(ErrorCode::TypeMismatch, "input " + Twine(i) +
                                                     " must be f32, not " +
                                                     textOf(node.element(i)));
    }
  }
  if (node.hasInput(2)) {
    TW_RETURN_IF_ERROR(requireInteger(node, 2));
  }
  Dims boxes = node.dims(0), scores = node.dims(1);
  if (!mayBeEqual(boxes[2], node.constant(4)) ||
      !mayBeEqual(boxes[0], scores[0]) || !mayBeEqual(boxes[1], scores[2])) {
    return node.error(ErrorCode::ShapeMismatch,
                      "boxes of shape " + textOf(boxes) +
                          " do not fit scores of shape " + textOf(scores));
  }
  SmallVector<Value> inputs = node.inputs();
  for (Value &input : llvm::drop_begin(inputs, 2)) {
    // Limits may be scalars or vectors of one.
    if (input && !tw::elementCount(input.getType()).isConstant(1)) {
      return node.error(ErrorCode::ShapeMismatch, "limits must be scalars");
    }
  }
  DimExpr count = node.freshSymbol();
  node.setOutput(0, call(node, "non_max_suppression", inputs,
                         integersOf(node, {count, node.constant(3)}),
                         node.intAttribute("center_point_box", 0), count)[0]);
  return Status::ok();
}

static constexpr OperatorEntry entries[] = {
    {"", "Compress", 9, importCompress},
    {"", "NonMaxSuppression", 10, importNonMaxSuppression},
    {"", "NonZero", 9, importNonZero},
    {"", "TopK", 1, importTopK},
    {"", "Unique", 11, importUnique},
};

OperatorFamily irregularOperators() { return entries; }

} // namespace tilewright::frontend
