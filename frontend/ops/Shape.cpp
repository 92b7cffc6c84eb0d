//===- Shape.cpp - operators that read sizes and change shapes ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/ops/Common.h"
#include "frontend/ops/Families.h"
#include "frontend/ops/Sizes.h"

using namespace mlir;

namespace tilewright::frontend {

static Status importIdentity(NodeImport &node) {
  node.setOutput(0, node.input(0), node.partialElements(0));
  return Status::ok();
}

/// An optional input that is a plain tensor is there; left out, it is not.
static Status importOptionalHasElement(NodeImport &node) {
  bool there = node.hasInput(0);
  node.setOutput(0, tw::buildMap(node.builder(), node.loc(), {},
                                 node.builder().getI1Type(),
                                 [&](tw::BodyBuilder &body, ValueRange) {
                                   return body.boolean(there);
                                 }));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Sizes as tensors
//===----------------------------------------------------------------------===//

static Status importShape(NodeImport &node) {
  Dims dims = node.dims(0);
  auto rank = static_cast<int64_t>(dims.size());
  auto bound = [&](StringRef name, int64_t otherwise) {
    int64_t position = node.intAttribute(name, otherwise);
    return std::clamp<int64_t>(position < 0 ? position + rank : position, 0,
                               rank);
  };
  int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  Dims wanted(dims.begin() + start, dims.begin() + end);
  node.setOutput(0, buildSizes(node, wanted), wanted);
  return Status::ok();
}

static Status importSize(NodeImport &node) {
  DimExpr count = tw::productOf(node.context(), node.dims(0));
  node.setOutput(0, buildSizes(node, count, /*scalar=*/true), Dims{count});
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Other shapes for the same elements
//===----------------------------------------------------------------------===//

static void setReshaped(NodeImport &node, ArrayRef<DimExpr> dims) {
  node.setOutput(
      0, tw::buildReshape(node.builder(), node.loc(), node.input(0), dims));
}

static Status importReshape(NodeImport &node) {
  std::optional<Dims> target;
  if (node.version() < 5) {
    target = Dims();
    for (int64_t size : node.intsAttribute("shape")) {
      target->push_back(node.constant(size));
    }
  } else {
    Result<Dims> sizes =
        reshapeTarget(node, node.intAttribute("allowzero", 0) != 0);
    if (!sizes) {
      return sizes.status();
    }
    target = *sizes;
  }
  Result<Dims> dims =
      resolveReshape(node, *target, node.intAttribute("allowzero", 0) != 0);
  if (!dims) {
    return dims.status();
  }
  setReshaped(node, *dims);
  return Status::ok();
}

static Status importFlatten(NodeImport &node) {
  Dims dims = node.dims(0);
  auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = node.intAttribute("axis", 1);
  if (axis < -rank || axis > rank) {
    return node.error(ErrorCode::AttributeInvalid,
                      "axis " + Twine(axis) + " is outside a tensor of rank " +
                          Twine(rank));
  }
  axis += axis < 0 ? rank : 0;
  ArrayRef<DimExpr> all(dims);
  setReshaped(node, {tw::productOf(node.context(), all.take_front(axis)),
                     tw::productOf(node.context(), all.drop_front(axis))});
  return Status::ok();
}

/// Squeeze or Unsqueeze by axes that only the run knows: a map computes the
/// sizes of the result, of rank `rank`.
static Status reshapeByAxesAtRunTime(NodeImport &node, int64_t rank,
                                     bool isSqueeze) {
  Dims dims = node.dims(0);
  Value axes = node.input(1);
  Type element = node.element(1), i64 = node.builder().getI64Type();
  int64_t count = *node.dims(1)[0].getConstant();
  auto longer = std::max<int64_t>(rank, dims.size());
  auto write = [&](BodyBuilder &body, ValueRange at) -> Value {
    Value zero = body.integer(i64, 0), one = body.integer(i64, 1);
    Value own = toScalar(body, at[0], i64), size = isSqueeze ? zero : one,
          next = zero;
    for (int64_t axis = 0; axis < longer; ++axis) {
      Value isListed = body.boolean(false);
      for (int64_t i = 0; i < count; ++i) {
        Value listed = body.cast(body.load(axes, body.index(i)), element, i64);
        Value fromEnd = body.addOf(listed, body.integer(i64, longer));
        listed = body.select(body.lessOf(listed, zero, i64), fromEnd, listed);
        isListed = body.create<arith::OrIOp>(
            isListed, body.equalOf(listed, body.integer(i64, axis)));
      }
      // `next` counts the axes that both shapes have.
      Value shorterAxis = next, longerAxis = body.integer(i64, axis);
      Value isOwn = body.equalOf(own, isSqueeze ? shorterAxis : longerAxis);
      Value source = zero;
      for (auto [i, dim] : llvm::enumerate(dims)) {
        Value isSource = body.equalOf(isSqueeze ? longerAxis : shorterAxis,
                                      body.integer(i64, i));
        source =
            body.select(isSource, toScalar(body, body.size(dim), i64), source);
      }
      Value takesSource = body.select(isListed, body.boolean(false), isOwn);
      size = body.select(takesSource, source, size);
      next = body.addOf(next, body.select(isListed, zero, one));
    }
    return size;
  };
  Value sizes =
      tw::buildMap(node.builder(), node.loc(), node.constant(rank), i64, write);
  Result<Dims> result = node.readSizes(sizes);
  if (!result) {
    return result.status();
  }
  node.requireZero(tw::productOf(node.context(), *result) -
                   tw::productOf(node.context(), dims));
  setReshaped(node, *result);
  return Status::ok();
}

/// Whether input 1 holds axes that are data; their number is known.
static bool hasAxesAtRunTime(NodeImport &node) {
  return node.version() >= 13 && node.hasInput(1) &&
         !node.constantElements(1) && node.rank(1) == 1 &&
         node.dims(1)[0].getConstant() && isInteger(node.element(1));
}

static Status importSqueeze(NodeImport &node) {
  Dims dims = node.dims(0);
  if (hasAxesAtRunTime(node)) {
    int64_t rank =
        static_cast<int64_t>(dims.size()) - *node.dims(1)[0].getConstant();
    if (rank < 0) {
      return node.error(ErrorCode::ShapeMismatch,
                        "more axes are squeezed than there are");
    }
    return reshapeByAxesAtRunTime(node, rank, /*isSqueeze=*/true);
  }
  Result<std::optional<SmallVector<int64_t>>> axes =
      axesOf(node, /*input=*/node.version() < 13 ? 0 : 1, dims.size());
  if (!axes) {
    return axes.status();
  }
  Dims kept;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    bool isListed =
        *axes && llvm::is_contained(**axes, static_cast<int64_t>(i));
    if (isListed && dim.getConstant() && !dim.isConstant(1)) {
      return node.error(ErrorCode::ShapeMismatch,
                        "axis " + Twine(i) + " of size " + dim.toString() +
                            " cannot be squeezed");
    }
    if (isListed) {
      node.requireZero(dim - 1);
      continue;
    }
    if (!*axes && dim.isConstant(1)) {
      continue;
    }
    if (!*axes) {
      // The rank is fixed here: a size that turns out to be one is refused.
      node.requireZero(
          DimExpr::select(dim - 1, node.constant(0), node.constant(1)));
    }
    kept.push_back(dim);
  }
  setReshaped(node, kept);
  return Status::ok();
}

static Status importUnsqueeze(NodeImport &node) {
  Dims dims = node.dims(0);
  if (hasAxesAtRunTime(node)) {
    return reshapeByAxesAtRunTime(node,
                                  dims.size() + *node.dims(1)[0].getConstant(),
                                  /*isSqueeze=*/false);
  }
  size_t input = node.version() < 13 ? 0 : 1;
  std::optional<SmallVector<int64_t>> listed =
      input == 0 ? std::optional(node.intsAttribute("axes"))
                 : node.constantElements(input);
  if (!listed) {
    return node.error(ErrorCode::UnsupportedShape, "the axes must be constant");
  }
  auto rank = static_cast<int64_t>(dims.size() + listed->size());
  Result<std::optional<SmallVector<int64_t>>> axes = axesOf(node, input, rank);
  if (!axes) {
    return axes.status();
  }
  Dims result;
  auto *next = dims.begin();
  for (int64_t i = 0; i < rank; ++i) {
    result.push_back(llvm::is_contained(**axes, i) ? node.constant(1)
                                                   : *next++);
  }
  setReshaped(node, result);
  return Status::ok();
}

static Status importExpand(NodeImport &node) {
  Result<Dims> target = node.elementsOrRead(1);
  if (!target) {
    return target.status();
  }
  TW_RETURN_IF_ERROR(checkSizes(node, *target));
  Result<Dims> dims = node.broadcastDims({node.dims(0), *target});
  if (!dims) {
    return dims.status();
  }
  Value source = node.input(0);
  if (*dims == node.dims(0)) {
    node.setOutput(0, source);
    return Status::ok();
  }
  node.setOutput(
      0, tw::buildMap(node.builder(), node.loc(), *dims, node.element(0),
                      [&](tw::BodyBuilder &body, ValueRange coordinates) {
                        return body.loadBroadcast(source, coordinates);
                      }));
  return Status::ok();
}

static constexpr OperatorEntry entries[] = {
    {"", "Expand", 8, importExpand},
    {"", "Flatten", 1, importFlatten},
    {"", "Identity", 1, importIdentity},
    {"", "OptionalGetElement", 18, importIdentity},
    {"", "OptionalHasElement", 18, importOptionalHasElement},
    {"", "Reshape", 1, importReshape},
    {"", "Shape", 1, importShape},
    {"", "Size", 1, importSize},
    {"", "Squeeze", 1, importSqueeze},
    {"", "Unsqueeze", 1, importUnsqueeze},
};

OperatorFamily shapeOperators() { return entries; }

} // namespace tilewright::frontend
