//===- Create.cpp - operators that make tensors from attributes and sizes -===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementTypes.h"
#include "frontend/GraphImport.h"
#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Sizes.h"

#include <cmath>

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------===//
// Constant
//===----------------------------------------------------------------------===//

static Value constantOfReals(NodeImport &node, ArrayRef<double> values,
                             bool scalar) {
  SmallVector<int64_t> shape;
  if (!scalar) {
    shape.push_back(values.size());
  }
  auto type = RankedTensorType::get(shape, node.builder().getF32Type());
  auto bytes = std::make_shared<std::vector<char>>();
  for (double value : values) {
    float narrow = static_cast<float>(value);
    const char *raw = reinterpret_cast<const char *>(&narrow);
    bytes->insert(bytes->end(), raw, raw + sizeof(narrow));
  }
  ArrayRef<char> data(*bytes);
  return tw::buildConstant(node.builder(), node.loc(), type, data, bytes);
}

static Status importConstant(NodeImport &node) {
  if (node.hasAttribute("value")) {
    Result<Value> tensor = node.tensorAttribute("value");
    if (!tensor) {
      return tensor.status();
    }
    node.setOutput(0, *tensor);
    return Status::ok();
  }
  OpBuilder &builder = node.builder();
  if (node.hasAttribute("value_int")) {
    node.setOutput(0, tw::buildConstant(builder, node.loc(),
                                        node.intAttribute("value_int", 0),
                                        /*scalar=*/true));
  } else if (node.hasAttribute("value_ints")) {
    node.setOutput(0, tw::buildConstant(builder, node.loc(),
                                        node.intsAttribute("value_ints")));
  } else if (node.hasAttribute("value_float")) {
    node.setOutput(
        0, constantOfReals(node, node.floatAttribute("value_float", 0), true));
  } else if (node.hasAttribute("value_floats")) {
    node.setOutput(
        0, constantOfReals(node, node.floatsAttribute("value_floats"), false));
  } else if (node.hasAttribute("sparse_value")) {
    return node.unsupported(
        "sparse constants are not supported: store the value densely");
  } else {
    return node.error(ErrorCode::UnsupportedType,
                      "constants of strings are not supported");
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// ConstantOfShape
//===----------------------------------------------------------------------===//

static Status importConstantOfShape(NodeImport &node) {
  Result<Dims> dims = node.elementsOrRead(0);
  if (!dims) {
    return dims.status();
  }
  TW_RETURN_IF_ERROR(checkSizes(node, *dims));
  Result<Value> given = node.tensorAttribute("value");
  if (!given) {
    return given.status();
  }
  Value value = *given;
  if (!value) {
    value = constantOfReals(node, 0.0, /*scalar=*/false);
  }
  Dims valueDims = tw::dimsOf(value.getType());
  if (valueDims.size() > 1 ||
      !tw::productOf(node.context(), valueDims).isConstant(1)) {
    return node.error(ErrorCode::AttributeInvalid,
                      "the value must have one element");
  }
  Type element = tw::elementTypeOf(value.getType());
  auto write = [&](tw::BodyBuilder &body, ValueRange) {
    return body.load(value,
                     SmallVector<Value>(valueDims.size(), body.index(0)));
  };
  std::optional<Dims> elements;
  std::optional<SmallVector<int64_t>> integers = tw::constantIntegers(value);
  if (integers && dims->size() <= 1) {
    std::optional<int64_t> count =
        tw::productOf(node.context(), *dims).getConstant();
    if (count && *count <= 256) {
      elements = Dims(*count, node.constant(integers->front()));
    }
  }
  node.setOutput(
      0, tw::buildMap(node.builder(), node.loc(), *dims, element, write),
      elements);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Range
//===----------------------------------------------------------------------===//

/// Reads an input that is a scalar (or a vector of one).
static Value loadScalar(NodeImport &node, tw::BodyBuilder &body, size_t input) {
  return body.load(node.input(input),
                   SmallVector<Value>(node.rank(input), body.index(0)));
}

/// The number of elements of a Range, from what is known at compile time.
static std::optional<DimExpr> knownCount(NodeImport &node) {
  auto element = [&](size_t input) {
    std::optional<Dims> known = node.wholeElements(input);
    return known && known->size() == 1 ? known->front() : DimExpr();
  };
  DimExpr start = element(0), limit = element(1), step = element(2);
  std::optional<int64_t> delta = step ? step.getConstant() : std::nullopt;
  if (start && limit && delta && *delta != 0 && *delta != INT64_MIN) {
    DimExpr span = *delta > 0 ? limit - start : start - limit;
    return span.ceilDiv(std::abs(*delta)).max(node.constant(0));
  }
  auto first = node.constantReals(0), last = node.constantReals(1),
       by = node.constantReals(2);
  if (first && last && by && first->size() == 1 && last->size() == 1 &&
      by->size() == 1) {
    double count = std::ceil((last->front() - first->front()) / by->front());
    if (count < 1e15) {
      return node.constant(count > 0 ? static_cast<int64_t>(count) : 0);
    }
  }
  return std::nullopt;
}

/// The number of elements as a scalar computed at run time; -1 for a step of
/// zero, which the runtime refuses.
static Value computedCount(NodeImport &node, Type element) {
  Type i64 = node.builder().getI64Type();
  auto write = [&](tw::BodyBuilder &body, ValueRange) -> Value {
    Value start = loadScalar(node, body, 0), limit = loadScalar(node, body, 1),
          step = loadScalar(node, body, 2);
    Value zero = body.integer(i64, 0), one = body.integer(i64, 1);
    if (isFloat(element)) {
      Type f64 = body.getF64Type();
      auto wide = [&](Value scalar) { return body.cast(scalar, element, f64); };
      Value ratio = body.divOf(
          wide(body.narrow(body.subOf(body.widen(limit), body.widen(start)),
                           element)),
          wide(step), f64);
      Value count = body.cast(body.createOrFold<math::CeilOp>(ratio), f64, i64);
      Value isZero = body.equalOf(wide(step), body.constant(f64, 0.0));
      return body.select(isZero, body.integer(i64, -1),
                         body.maxOf(count, zero, i64));
    }
    start = body.cast(start, element, i64);
    limit = body.cast(limit, element, i64);
    step = body.cast(step, element, i64);
    Value isUp = body.lessOf(zero, step, i64);
    Value towards =
        body.select(isUp, body.subOf(step, one), body.addOf(step, one));
    Value span = body.addOf(body.subOf(limit, start), towards);
    Value count = body.maxOf(body.divOf(span, step, i64), zero, i64);
    return body.select(body.equalOf(step, zero), body.integer(i64, -1), count);
  };
  return tw::buildMap(node.builder(), node.loc(), {}, i64, write);
}

static Status importRange(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireNumber(node, 0));
  TW_RETURN_IF_ERROR(requireSameElement(node, 3));
  for (size_t i = 0; i < 3; ++i) {
    if (!tw::productOf(node.context(), node.dims(i)).isConstant(1)) {
      return node.error(ErrorCode::ShapeMismatch,
                        "input " + Twine(i) + " must be a scalar");
    }
  }
  if (auto step = node.constantReals(2); step && step->front() == 0) {
    return node.error(ErrorCode::ShapeMismatch,
                      "the step (delta) must not be zero");
  }
  Type element = node.element(0);
  std::optional<DimExpr> count = knownCount(node);
  if (!count) {
    Result<Dims> read = node.readSizes(computedCount(node, element));
    if (!read) {
      return read.status();
    }
    count = read->front();
  }
  auto write = [&](tw::BodyBuilder &body, ValueRange coordinates) -> Value {
    Value start = body.widen(loadScalar(node, body, 0));
    Value step = body.widen(loadScalar(node, body, 2));
    Value position = toScalar(body, coordinates[0],
                              tw::scalarType(tw::computeType(element)));
    return body.narrow(body.addOf(start, body.mulOf(position, step)),
                       tw::scalarType(element));
  };
  std::optional<Dims> elements;
  std::optional<int64_t> length = count->getConstant();
  std::optional<Dims> start = node.elements(0), step = node.elements(2);
  if (length && *length <= 256 && start && step) {
    elements = Dims();
    for (int64_t i = 0; i < *length; ++i) {
      elements->push_back(start->front() + step->front() * i);
    }
  }
  node.setOutput(
      0, tw::buildMap(node.builder(), node.loc(), *count, element, write),
      elements);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// EyeLike
//===----------------------------------------------------------------------===//

static Status importEyeLike(NodeImport &node) {
  TW_RETURN_IF_ERROR(requireRank(node, 0, 2));
  Type element = node.element(0);
  if (node.hasAttribute("dtype")) {
    auto type = static_cast<int32_t>(node.intAttribute("dtype", 0));
    element = elementTypeFromOnnx(node.context(), type);
    if (!element) {
      return node.error(ErrorCode::UnsupportedType, "elements of type " +
                                                        elementTypeName(type) +
                                                        " are not supported");
    }
  }
  int64_t shift = node.intAttribute("k", 0);
  Type boolean = node.builder().getI1Type();
  auto write = [&](tw::BodyBuilder &body, ValueRange at) -> Value {
    Value isOne = body.equal(at[1], body.add(at[0], shift));
    return body.cast(isOne, boolean, element);
  };
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), node.dims(0),
                                 element, write));
  return Status::ok();
}

static constexpr OperatorEntry entries[] = {
    {"", "Constant", 1, importConstant},
    {"", "ConstantOfShape", 9, importConstantOfShape},
    {"", "EyeLike", 9, importEyeLike},
    {"", "Range", 11, importRange},
};

OperatorFamily createOperators() { return entries; }

} // namespace tilewright::frontend
