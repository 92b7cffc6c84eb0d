//===- Dropout.cpp - Dropout ----------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Randomness.h"

using namespace mlir;

namespace tilewright::frontend {

/// Nothing is dropped; the mask is all true (all ones, before the mask became
/// boolean).
static void importInference(NodeImport &node) {
  node.setOutput(0, node.input(0));
  if (node.wantsOutput(1)) {
    Type element =
        node.version() >= 10 ? node.builder().getI1Type() : node.element(0);
    node.setOutput(
        1, tw::buildMap(node.builder(), node.loc(), node.dims(0), element,
                        [&](BodyBuilder &body, ValueRange) -> Value {
                          return isBool(element) ? body.boolean(true)
                                                 : body.constant(element, 1.0);
                        }));
  }
}

/// In training, elements are dropped with the probability `ratio`, and the
/// others are scaled by 1 / (1 - ratio). The mask says which are kept. Whether
/// it is training may be known only at run time.
static Status importTraining(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireFloat(node, 0));
  TW_RETURN_IF_ERROR(requireBool(node, 2));
  TW_RETURN_IF_ERROR(requireRank(node, 2, 0));
  Type f32 = node.builder().getF32Type(), i1 = node.builder().getI1Type();
  Value random = randomUniform(node, node.dims(0), f32, 0, 1);
  SmallVector<Value> operands{random, node.input(2)};
  if (node.hasInput(1)) {
    TW_RETURN_IF_ERROR(requireFloat(node, 1));
    TW_RETURN_IF_ERROR(requireRank(node, 1, 0));
    operands.push_back(castTensor(node, node.input(1), f32));
  }
  auto ratio = [&](BodyBuilder &b, ValueRange x, size_t i) {
    return x.size() > i ? x[i] : b.constant(f32, 0.5);
  };
  Result<Value> mask = broadcastMap(
      node, operands, i1, [&](BodyBuilder &b, ValueRange x) -> Value {
        Value kept = b.lessEqualOf(ratio(b, x, 2), x[0], f32);
        return b.select(x[1], kept, b.boolean(true));
      });
  if (!mask) {
    return mask.status();
  }
  operands[0] = *mask;
  operands.insert(operands.begin(), node.input(0));
  Result<Value> result = broadcastMap(
      node, operands, node.element(0), [&](BodyBuilder &b, ValueRange x) {
        Type type = x[0].getType();
        Value rate = b.cast(ratio(b, x, 3), f32, type);
        Value one = b.constant(type, 1), zero = b.constant(type, 0);
        Value scaled = b.divOf(x[0], b.subOf(one, rate), type);
        return b.select(x[2], b.select(x[1], scaled, zero), x[0]);
      });
  if (!result) {
    return result.status();
  }
  node.setOutput(0, *result);
  if (node.wantsOutput(1)) {
    node.setOutput(1, *mask);
  }
  return Status::ok();
}

static Status importDropout(NodeImport &node) {
  std::optional<SmallVector<int64_t>> training = node.constantElements(2);
  if (!node.hasInput(2) ||
      (training && training->size() == 1 && training->front() == 0)) {
    importInference(node);
    return Status::ok();
  }
  return importTraining(node);
}

OperatorFamily dropoutOperators() {
  static const OperatorEntry entries[] = {{"", "Dropout", 1, importDropout}};
  return entries;
}

} // namespace tilewright::frontend
