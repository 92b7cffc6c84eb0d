//===- BatchNorm.cpp - batch normalisation --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Axes.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Scalars.h"

using namespace mlir;

namespace tilewright::frontend {

/// Opsets 6 to 8 with `spatial` = 0: statistics per activation, [C, D1, …].
static Status importPerActivation(NodeImport &node, double epsilon) {
  for (size_t i = 1; i < 5; ++i) {
    TW_RETURN_IF_ERROR(requireDims(node, i, "a statistic",
                                   ArrayRef(node.dims(0)).drop_front()));
  }
  Result<Value> result = broadcastMap(
      node, node.inputs(), node.element(0), [&](BodyBuilder &b, ValueRange x) {
        Value root =
            b.create<math::SqrtOp>(b.addOf(x[4], literal(b, x[4], epsilon)));
        Value scaled = b.mulOf(b.subOf(x[0], x[3]), divide(b, x[1], root));
        return b.addOf(scaled, x[2]);
      });
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  return Status::ok();
}

/// Mean of `body` of every element over all axes but axis 1, as [C].
static Value
averageOfChannels(NodeImport &node, Type element,
                  llvm::function_ref<Value(BodyBuilder &, Value, Value)> body) {
  Dims dims = node.dims(0), extents = dims;
  extents.erase(extents.begin() + 1);
  DimExpr count = tw::productOf(node.context(), extents);
  Value sum = tw::buildReduce(
      node.builder(), node.loc(), FoldKind::Add, dims[1], extents, element,
      [&](BodyBuilder &b, ValueRange at) {
        SmallVector<Value> from(at.drop_front());
        from.insert(from.begin() + 1, at[0]);
        Value x = b.load(node.input(0), from);
        return body(b, b.cast(x, node.element(0), element), at[0]);
      });
  return tw::buildElementwise(
      node.builder(), node.loc(), dims[1], element, sum,
      [&](BodyBuilder &b, ValueRange x) {
        return divide(b, x[0], toScalar(b, b.size(count), element));
      });
}

/// Training mode: normalises by the batch's own statistics, and gives the
/// running ones.
static Status importTraining(NodeImport &node, FloatAttr epsilon) {
  double momentum = node.floatAttribute("momentum", 0.9);
  Type real = tw::computeType(node.element(3));
  Value mean = averageOfChannels(
      node, real, [](BodyBuilder &, Value x, Value) { return x; });
  Value variance = averageOfChannels(
      node, real, [&](BodyBuilder &b, Value x, Value channel) {
        Value centered = b.subOf(x, b.load(mean, channel));
        return b.mulOf(centered, centered);
      });
  node.setOutput(0, tw::BatchNormOp::create(
                        node.builder(), node.loc(), node.input(0).getType(),
                        node.input(0), node.input(1), node.input(2), mean,
                        variance, epsilon));
  Value current[] = {mean, variance};
  for (size_t i = 0; i < 2; ++i) {
    if (!node.wantsOutput(1 + i)) {
      continue;
    }
    node.setOutput(
        1 + i,
        tw::buildElementwise(
            node.builder(), node.loc(), node.dims(3 + i), node.element(3 + i),
            ValueRange({node.input(3 + i), current[i]}),
            [&](BodyBuilder &b, ValueRange x) {
              Value old = b.mulOf(x[0], literal(b, x[0], momentum));
              Value now = b.mulOf(x[1], literal(b, x[1], 1.0 - momentum));
              return b.addOf(old, now);
            }));
  }
  return Status::ok();
}

static Status importBatchNorm(NodeImport &node) {
  for (size_t i = 0; i < 5; ++i) {
    TW_RETURN_IF_ERROR(requireFloat(node, i));
  }
  TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 1));
  double epsilon = node.floatAttribute("epsilon", 1e-5);
  if (node.version() < 9 && node.intAttribute("spatial", 1) == 0) {
    return importPerActivation(node, epsilon);
  }
  DimExpr channels = node.rank(0) > 1 ? node.dims(0)[1] : node.constant(1);
  const char *const names[] = {"the scale", "the bias", "the mean",
                               "the variance"};
  for (size_t i = 1; i < 5; ++i) {
    TW_RETURN_IF_ERROR(requireDims(node, i, names[i - 1], channels));
  }
  FloatAttr attribute = node.builder().getF64FloatAttr(epsilon);
  if (node.intAttribute("training_mode", 0) != 0) {
    TW_RETURN_IF_ERROR(requireRankAtLeast(node, 0, 2));
    return importTraining(node, attribute);
  }
  for (size_t i = 1; i < node.numOutputs(); ++i) {
    if (node.wantsOutput(i)) {
      return node.unsupported(
          "outputs after the first need training_mode (opset 14)");
    }
  }
  node.setOutput(0, tw::BatchNormOp::create(
                        node.builder(), node.loc(), node.input(0).getType(),
                        node.input(0), node.input(1), node.input(2),
                        node.input(3), node.input(4), attribute));
  return Status::ok();
}

OperatorFamily batchNormOperators() {
  static const OperatorEntry entries[] = {
      {"", "BatchNormalization", 1, importBatchNorm},
  };
  return entries;
}

} // namespace tilewright::frontend
