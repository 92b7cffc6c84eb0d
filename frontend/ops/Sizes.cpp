//===- Sizes.cpp - what the movement families do with sizes ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Sizes.h"

using namespace mlir;

namespace tilewright::frontend {

Value buildSizes(NodeImport &node, ArrayRef<DimExpr> sizes, bool scalar) {
  SmallVector<int64_t> shape;
  if (!scalar) {
    shape.push_back(sizes.size());
  }
  OpBuilder &builder = node.builder();
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  return tw::SizesOp::create(builder, node.loc(), type,
                             tw::DimsAttr::get(node.context(), sizes));
}

Result<std::optional<SmallVector<int64_t>>> axesOf(NodeImport &node,
                                                   size_t input, int64_t rank) {
  using Axes = std::optional<SmallVector<int64_t>>;
  Axes axes;
  if (input == 0) {
    if (!node.hasAttribute("axes")) {
      return Axes();
    }
    axes = node.intsAttribute("axes");
  } else {
    if (!node.hasInput(input)) {
      return Axes();
    }
    axes = node.constantElements(input);
    if (!axes) {
      return node.error(ErrorCode::UnsupportedShape,
                        "the axes must be constant");
    }
  }
  SmallVector<int64_t> result;
  for (int64_t axis : *axes) {
    Result<int64_t> normal = node.normalizeAxis(axis, rank);
    if (!normal) {
      return normal.status();
    }
    if (llvm::is_contained(result, *normal)) {
      return node.error(ErrorCode::AttributeInvalid,
                        "axis " + Twine(axis) + " is listed twice");
    }
    result.push_back(*normal);
  }
  return Axes(result);
}

Status checkSizes(NodeImport &node, ArrayRef<DimExpr> sizes) {
  for (DimExpr size : sizes) {
    if (std::optional<int64_t> value = size.getConstant();
        value && *value < 0) {
      return node.error(ErrorCode::ShapeMismatch,
                        "a size of " + Twine(*value) + " is negative");
    }
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// The target of a Reshape as a tensor whose 0 and -1 are resolved.
static Value resolvedTarget(NodeImport &node, int64_t length, bool allowZero) {
  Dims dims = node.dims(0);
  Value target = node.input(1);
  Type element = node.element(1);
  OpBuilder &builder = node.builder();
  Type i64 = builder.getI64Type();
  auto write = [&](tw::BodyBuilder &body, ValueRange coordinates) -> Value {
    Value zero = body.integer(i64, 0), one = body.integer(i64, 1);
    auto sizeOf = [&](DimExpr dim) -> Value {
      return body.createOrFold<arith::IndexCastOp>(i64, body.size(dim));
    };
    auto copied = [&](int64_t axis) {
      return axis < static_cast<int64_t>(dims.size()) ? sizeOf(dims[axis])
                                                      : zero;
    };
    Value product = one, own = zero;
    for (int64_t axis = 0; axis < length; ++axis) {
      Value size = body.cast(body.load(target, body.index(axis)), element, i64);
      if (!allowZero) {
        size = body.select(body.equalOf(size, zero), copied(axis), size);
      }
      Value isRest = body.lessOf(size, zero, i64);
      product = body.mulOf(product, body.select(isRest, one, size));
      own =
          body.select(body.equal(coordinates[0], body.index(axis)), size, own);
    }
    Value rest =
        body.divOf(sizeOf(tw::productOf(node.context(), dims)), product, i64);
    return body.select(body.lessOf(own, zero, i64), rest, own);
  };
  return tw::buildMap(builder, node.loc(), {node.constant(length)}, i64, write);
}

Result<Dims> reshapeTarget(NodeImport &node, bool allowZero) {
  if (node.rank(1) != 1 || !node.dims(1)[0].getConstant() ||
      !isa<IntegerType>(node.element(1))) {
    return node.error(ErrorCode::UnsupportedShape,
                      "the shape must be a vector of integers, of a length "
                      "known at compile time");
  }
  int64_t length = *node.dims(1)[0].getConstant();
  std::optional<Dims> known = node.partialElements(1);
  if (known && !llvm::is_contained(*known, DimExpr())) {
    return *known;
  }
  Result<Dims> read = node.readSizes(resolvedTarget(node, length, allowZero));
  if (!read) {
    return read.status();
  }
  for (int64_t i = 0; known && i < length; ++i) {
    if ((*known)[i]) {
      (*read)[i] = (*known)[i];
    }
  }
  return read;
}

/// Takes the factors that both lists have out of them.
static void cancel(Dims &left, Dims &right) {
  for (size_t i = 0; i < left.size();) {
    auto *match = llvm::find(right, left[i]);
    if (match == right.end()) {
      ++i;
      continue;
    }
    right.erase(match);
    left.erase(left.begin() + i);
  }
}

static Status wrongCount(NodeImport &node, DimExpr have,
                         ArrayRef<DimExpr> target) {
  std::string text;
  for (DimExpr size : target) {
    text += (text.empty() ? "" : ", ") + size.toString();
  }
  return node.error(ErrorCode::ShapeMismatch,
                    have.toString() + " elements cannot take the shape [" +
                        text + "]");
}

Result<Dims> resolveReshape(NodeImport &node, ArrayRef<DimExpr> target,
                            bool allowZero) {
  Dims dims = node.dims(0), result;
  std::optional<size_t> rest;
  for (size_t i = 0; i < target.size(); ++i) {
    DimExpr size = target[i];
    if (size.isConstant(-1)) {
      if (rest) {
        return node.error(ErrorCode::ShapeMismatch,
                          "the shape has more than one -1");
      }
      rest = i;
    } else if (size.isConstant(0) && !allowZero) {
      if (i >= dims.size()) {
        return node.error(ErrorCode::ShapeMismatch,
                          "the shape keeps axis " + Twine(i) +
                              " of a tensor of rank " + Twine(dims.size()));
      }
      size = dims[i];
    }
    result.push_back(size);
  }
  Dims have = dims, taken = result;
  if (rest) {
    taken.erase(taken.begin() + *rest);
  }
  TW_RETURN_IF_ERROR(checkSizes(node, taken));
  cancel(have, taken);
  DimExpr total = tw::productOf(node.context(), have);
  DimExpr product = tw::productOf(node.context(), taken);
  if (rest) {
    result[*rest] = total.exactDiv(product).value_or(total.floorDiv(product));
    total = total - result[*rest] * product;
    product = node.constant(0);
  }
  DimExpr difference = total - product;
  if (std::optional<int64_t> value = difference.getConstant();
      value && *value != 0) {
    return wrongCount(node, tw::productOf(node.context(), dims), target);
  }
  if (rest) {
    node.requireZero(difference);
  } else {
    node.unify(total, product);
  }
  return result;
}

} // namespace tilewright::frontend
