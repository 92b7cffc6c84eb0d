//===- RowFold.cpp - elements and folds of a row --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/rows/RowFold.h"
#include "codegen/families/nest/Reduction.h"
#include "codegen/families/rows/Team.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

SmallVector<DimExpr> innerExtents(const FusedRegion &region,
                                  Operation *primitive) {
  if (auto reduce = dyn_cast<ReduceOp>(primitive)) {
    return reduce.getExtents().getDims();
  }
  SmallVector<DimExpr> domain = domainOf(primitive);
  domain.erase(domain.begin(), domain.begin() + region.rows);
  return domain;
}

/// Whether `load` reads a value of the region at its reader's own coordinates.
static bool readsOwnElement(LoadOp load) {
  Value source = load.getSource();
  if (stripReshapes(source) != source) {
    return false;
  }
  Block *body = load->getBlock();
  for (auto [i, index] : llvm::enumerate(load.getIndices())) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (!argument || argument.getOwner() != body ||
        argument.getArgNumber() != i) {
      return false;
    }
  }
  return true;
}

std::optional<Refusal> refuseRowElements(const FusedRegion &region) {
  for (Operation *primitive : region.primitives) {
    auto reduce = dyn_cast<ReduceOp>(primitive);
    if (reduce && reduce.isArg()) {
      return Refusal{"TWT112", "a position is not folded across threads"};
    }
    WalkResult walk = primitive->walk([&](LoadOp load) {
      bool isInner =
          !isa<BlockArgument>(stripReshapes(load.getSource())) &&
          !stripReshapes(load.getSource()).getDefiningOp<ConstantOp>();
      return isInner && !readsOwnElement(load) ? WalkResult::interrupt()
                                               : WalkResult::advance();
    });
    if (walk.wasInterrupted()) {
      return Refusal{"TWT113", "an element of the row is read by others"};
    }
  }
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> placeOf(LoadOp load) {
  if (load.getGuard()) {
    return std::nullopt;
  }
  SmallVector<int64_t> place;
  for (Value index : load.getIndices()) {
    APInt constant;
    if (auto argument = dyn_cast<BlockArgument>(index)) {
      place.push_back(argument.getArgNumber());
    } else if (matchPattern(index, m_ConstantInt(&constant))) {
      place.push_back(-1 - constant.getSExtValue());
    } else {
      return std::nullopt;
    }
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

RowFold::RowFold(KernelFrame &frame, ReduceOp reduce, int64_t width)
    : frame(frame), b(frame.getBuilder()), reduce(reduce), width(width) {
  Type scalar = yieldOf(reduce).getOperand(0).getType();
  isFloat = isa<FloatType>(scalar);
  isUnsigned =
      scalar.isInteger(1) || tw::isUnsigned(elementTypeOf(reduce.getType()));
  accumulator = scalar.getIntOrFloatBitWidth() >= 32 ? scalar
                : isFloat                            ? Type(b.getF32Type())
                                                     : Type(b.getI32Type());
  product = isFloat ? productOfBody(reduce) : nullptr;
}

Status RowFold::check() const {
  Type scalar = yieldOf(reduce).getOperand(0).getType();
  return bodyType(scalar) == scalar
             ? Status::ok()
             : Status(ErrorCode::UnsupportedType,
                      "a reduction cannot fold 8-bit or 4-bit floats");
}

/// A scalar type, or a vector of it where threads take vectors.
Type RowFold::ofWidth(Type scalar) const {
  return width > 1 ? Type(VectorType::get({width}, scalar)) : scalar;
}

Value RowFold::lanesOf(const Lanes &lanes) {
  return width > 1 ? b.asVector(lanes) : b.first(lanes);
}

Value RowFold::toAccumulator(Value value) {
  Type type = ofWidth(accumulator);
  if (value.getType() == type) {
    return value;
  }
  return isFloat      ? Value(b.create<arith::ExtFOp>(type, value))
         : isUnsigned ? Value(b.create<arith::ExtUIOp>(type, value))
                      : Value(b.create<arith::ExtSIOp>(type, value));
}

Value RowFold::initial() {
  Value start = b.create<arith::ConstantOp>(
      identityOf(reduce.getKind(), accumulator, isUnsigned));
  return width > 1
             ? Value(b.create<vector::BroadcastOp>(ofWidth(accumulator), start))
             : start;
}

Value RowFold::accumulate(BodyEmitter &emitter, Value total) {
  auto valueOf = [&](Value scalar) {
    return toAccumulator(lanesOf(emitter.get(scalar)));
  };
  if (product) {
    return b.create<math::FmaOp>(valueOf(product->getOperand(0)),
                                 valueOf(product->getOperand(1)), total);
  }
  return fold(b, reduce.getKind(), isUnsigned, total,
              valueOf(yieldOf(reduce).getOperand(0)));
}

Lanes RowFold::finish(Value total) {
  auto both = [&](Value x, Value y) {
    return fold(b, reduce.getKind(), isUnsigned, x, y);
  };
  Value sum = width > 1 ? Value() : total;
  for (int64_t lane = 0; width > 1 && lane < width; ++lane) {
    Value one = b.create<vector::ExtractOp>(total, ArrayRef<int64_t>{lane});
    sum = sum ? both(sum, one) : one;
  }
  sum = foldTeam(frame, sum, both).front();
  Type element = bodyType(scalarType(elementTypeOf(reduce.getType())));
  if (element != accumulator) {
    sum = isFloat ? Value(b.create<arith::TruncFOp>(element, sum))
                  : Value(b.create<arith::TruncIOp>(element, sum));
  }
  return Lanes::scalar(sum);
}

} // namespace tilewright::families
