//===- ReshapeCoordinates.cpp - reading through a reshape -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/ReshapeCoordinates.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

SmallVector<ReshapeGroup> groupAxes(ArrayRef<DimExpr> from,
                                    ArrayRef<DimExpr> to) {
  SmallVector<ReshapeGroup> groups;
  unsigned f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    bool matching = f < from.size() && t < to.size() && from[f] == to[t];
    if (!matching && f < from.size() && from[f].isConstant(1)) {
      groups.push_back({{f++}, {}});
      continue;
    }
    if (!matching && t < to.size() && to[t].isConstant(1)) {
      groups.push_back({{}, {t++}});
      continue;
    }
    if (f == from.size() || t == to.size()) {
      // Only where the sizes cannot be proved equal: one group with all of it.
      ReshapeGroup rest =
          groups.empty() ? ReshapeGroup() : groups.pop_back_val();
      for (; f < from.size(); ++f) {
        rest.from.push_back(f);
      }
      for (; t < to.size(); ++t) {
        rest.to.push_back(t);
      }
      groups.push_back(rest);
      break;
    }
    ReshapeGroup group{{f}, {t}};
    DimExpr left = from[f++], right = to[t++];
    while (left != right && (f < from.size() || t < to.size())) {
      std::optional<int64_t> a = left.getConstant(), b = right.getConstant();
      bool leftIsSmaller = a && b ? *a < *b : right.exactDiv(left).has_value();
      if ((leftIsSmaller || t == to.size()) && f < from.size()) {
        left = left * from[f];
        group.from.push_back(f++);
      } else if (t < to.size()) {
        right = right * to[t];
        group.to.push_back(t++);
      } else {
        break;
      }
    }
    groups.push_back(group);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Value linearize(BodyBuilder &body, ArrayRef<DimExpr> dims, ValueRange at) {
  Value position = body.index(0);
  for (auto [dim, coordinate] : llvm::zip(dims, at)) {
    position = body.add(body.mul(position, body.size(dim)), coordinate);
  }
  return position;
}

/// The size that a value stands for, null if it is not one.
static DimExpr sizeOf(Value value) {
  if (auto size = value.getDefiningOp<SizeOp>()) {
    return DimExpr(size.getSize());
  }
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    return DimExpr::constant(value.getContext(), *constant);
  }
  return {};
}

namespace {

/// value = outer * step + inner.
struct Composition {
  Value outer, inner;
  DimExpr step;
};

} // namespace

static std::optional<Composition> decompose(Value value) {
  auto sum = value.getDefiningOp<arith::AddIOp>();
  auto asProduct = [](Value product,
                      Value inner) -> std::optional<Composition> {
    auto multiply = product.getDefiningOp<arith::MulIOp>();
    if (!multiply) {
      return std::nullopt;
    }
    if (DimExpr step = sizeOf(multiply.getRhs())) {
      return Composition{multiply.getLhs(), inner, step};
    }
    if (DimExpr step = sizeOf(multiply.getLhs())) {
      return Composition{multiply.getRhs(), inner, step};
    }
    return std::nullopt;
  };
  if (!sum) {
    return std::nullopt;
  }
  if (auto found = asProduct(sum.getLhs(), sum.getRhs())) {
    return found;
  }
  return asProduct(sum.getRhs(), sum.getLhs());
}

/// The size such that `value` is known to be in [0, size), null if unknown.
static DimExpr extentOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *primitive = argument.getOwner()->getParentOp();
    return isPrimitive(primitive) ? domainOf(primitive)[argument.getArgNumber()]
                                  : DimExpr();
  }
  if (DimExpr constant = sizeOf(value)) {
    return constant.getConstant().value_or(-1) >= 0 ? constant + 1 : DimExpr();
  }
  if (std::optional<Composition> parts = decompose(value)) {
    DimExpr outer = extentOf(parts->outer), inner = extentOf(parts->inner);
    if (outer && inner && (parts->step - inner).isNonNegative()) {
      return outer * parts->step;
    }
  }
  return {};
}

/// Splits a position that is visibly composed of coordinates of `dims`.
static std::optional<SmallVector<Value>>
splitExactly(BodyBuilder &body, Value position, ArrayRef<DimExpr> dims) {
  if (dims.size() == 1) {
    return SmallVector<Value>{position};
  }
  if (getConstantIntValue(position) == 0) {
    return SmallVector<Value>(dims.size(), body.index(0));
  }
  DimExpr inner = productOf(dims.front().getContext(), dims.drop_front());
  std::optional<Composition> parts = decompose(position);
  // The step may be coarser: outer coordinates are composed themselves.
  if (!parts) {
    return std::nullopt;
  }
  DimExpr low = extentOf(parts->inner);
  if (parts->step == inner && low && (inner - low).isNonNegative()) {
    auto rest = splitExactly(body, parts->inner, dims.drop_front());
    if (!rest) {
      return std::nullopt;
    }
    rest->insert(rest->begin(), parts->outer);
    return rest;
  }
  // outer * last + inner, where `outer` holds all but the last coordinate.
  if (parts->step == dims.back() && low &&
      (dims.back() - low).isNonNegative()) {
    auto rest = splitExactly(body, parts->outer, dims.drop_back());
    if (!rest) {
      return std::nullopt;
    }
    rest->push_back(parts->inner);
    return rest;
  }
  return std::nullopt;
}

/// Splits any position by divisions; all sizes but the first are constants.
static std::optional<SmallVector<Value>>
splitByDivision(BodyBuilder &body, Value position, ArrayRef<DimExpr> dims) {
  SmallVector<Value> coordinates(dims.size());
  for (size_t i = dims.size(); i-- > 1;) {
    if (!dims[i].getConstant()) {
      return std::nullopt;
    }
    Value size = body.size(dims[i]);
    coordinates[i] = body.mod(position, size);
    position = body.floorDiv(position, size);
  }
  coordinates[0] = position;
  return coordinates;
}

std::optional<SmallVector<Value>>
coordinatesBehindReshape(BodyBuilder &body, ArrayRef<DimExpr> from,
                         ArrayRef<DimExpr> to, ValueRange at,
                         bool allowDivision) {
  SmallVector<Value> coordinates(from.size());
  for (const ReshapeGroup &group : groupAxes(from, to)) {
    if (group.from.empty()) {
      continue;
    }
    SmallVector<DimExpr> fromDims, toDims;
    SmallVector<Value> toCoordinates;
    for (unsigned axis : group.from) {
      fromDims.push_back(from[axis]);
    }
    for (unsigned axis : group.to) {
      toDims.push_back(to[axis]);
      toCoordinates.push_back(at[axis]);
    }
    Value position = linearize(body, toDims, toCoordinates);
    std::optional<SmallVector<Value>> split =
        splitExactly(body, position, fromDims);
    if (!split && allowDivision) {
      split = splitByDivision(body, position, fromDims);
    }
    if (!split) {
      return std::nullopt;
    }
    for (auto [axis, coordinate] : llvm::zip(group.from, *split)) {
      coordinates[axis] = coordinate;
    }
  }
  return coordinates;
}

} // namespace tilewright
