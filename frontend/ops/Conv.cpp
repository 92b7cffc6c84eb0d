//===- Conv.cpp - convolution ---------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Families.h"
#include "frontend/ops/Products.h"
#include "frontend/ops/Windows.h"

using namespace mlir;

namespace tilewright::frontend {

/// Input and weights have one rank, and the channels fit the groups.
static Status checkConv(NodeImport &node, ArrayRef<DimExpr> input,
                        ArrayRef<DimExpr> weights, int64_t group) {
  if (input.size() < 3 || weights.size() != input.size()) {
    return node.error(ErrorCode::ShapeMismatch,
                      "input " + textOf(input) + " and weights " +
                          textOf(weights) + " must have one rank of 3 or more");
  }
  if (!mayBeEqual(input[1], weights[1] * group)) {
    return node.error(ErrorCode::ShapeMismatch,
                      "the input " + textOf(input) + " has " +
                          input[1].toString() + " channels, but the weights " +
                          textOf(weights) + " in " + Twine(group) +
                          " groups take " + (weights[1] * group).toString());
  }
  if (weights[0].getConstant().value_or(0) % group != 0) {
    return node.error(ErrorCode::ShapeMismatch,
                      "the " + weights[0].toString() +
                          " result channels do not divide into " +
                          Twine(group) + " groups");
  }
  SmallVector<int64_t> kernel = node.intsAttribute("kernel_shape");
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (kernel.size() + 2 != weights.size() ||
        !mayBeEqual(weights[2 + i], node.constant(kernel[i]))) {
      return node.error(ErrorCode::AttributeInvalid,
                        "kernel_shape does not agree with the weights " +
                            textOf(weights));
    }
  }
  return Status::ok();
}

Result<Value> convolution(NodeImport &node, Value input, Value weights,
                          Value bias, Type element) {
  Dims inputDims = tw::dimsOf(input.getType()),
       weightDims = tw::dimsOf(weights.getType());
  int64_t group = node.intAttribute("group", 1);
  TW_RETURN_IF_ERROR(checkConv(node, inputDims, weightDims, group));
  Result<WindowSpec> window =
      slidingWindow(node, ArrayRef(inputDims).drop_front(2),
                    ArrayRef(weightDims).drop_front(2));
  if (!window) {
    return window.status();
  }
  Dims dims{inputDims[0], weightDims[0]};
  dims.append(window->out);
  if (bias) {
    Dims biasDims = tw::dimsOf(bias.getType());
    if (biasDims.size() != 1 || !mayBeEqual(biasDims[0], dims[1])) {
      return node.error(ErrorCode::ShapeMismatch,
                        "the bias must have the shape [" + dims[1].toString() +
                            "], not " + textOf(biasDims));
    }
  }
  MLIRContext *context = node.context();
  return Value(tw::ConvOp::create(
      node.builder(), node.loc(), tw::tensorType(dims, element), input, weights,
      bias, window->strides, tw::DimsAttr::get(context, window->pads),
      window->dilations, static_cast<uint64_t>(group)));
}

static Status importConv(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 3));
  Value bias = node.hasInput(2) ? node.input(2) : Value();
  Result<Value> result =
      convolution(node, node.input(0), node.input(1), bias, node.element(0));
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

OperatorFamily convOperators() {
  static const OperatorEntry entries[] = {
      {"", "Conv", 1, importConv},
  };
  return entries;
}

} // namespace tilewright::frontend
