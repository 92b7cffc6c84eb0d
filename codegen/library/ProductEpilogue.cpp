//===- ProductEpilogue.cpp - what follows a product -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/library/ProductEpilogue.h"
#include "codegen/library/Gelu.h"
#include "ir/Slices.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tw;
using namespace tilewright::families;

namespace tilewright::library {

std::optional<SmallVector<DimExpr>> stridesOfLoad(LoadOp load) {
  Block &body = *load->getBlock();
  SmallVector<DimExpr> dims = dimsOf(load.getSource().getType());
  SmallVector<DimExpr> ofDims = stridesOf(load.getContext(), dims);
  SmallVector<DimExpr> strides(body.getNumArguments(),
                               DimExpr::constant(load.getContext(), 0));
  for (auto [index, dim, stride] : llvm::zip(load.getIndices(), dims, ofDims)) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (argument && argument.getOwner() == &body) {
      DimExpr &ofArgument = strides[argument.getArgNumber()];
      if (!ofArgument.isConstant(0)) {
        return std::nullopt;
      }
      ofArgument = stride;
    } else if (!matchPattern(index, m_Zero())) {
      return std::nullopt;
    }
  }
  return strides;
}

/// x of maximum(x, 0).
static Value reluArgument(Value y) {
  auto maximum = y.getDefiningOp<arith::MaximumFOp>();
  if (!maximum) {
    return {};
  }
  if (matchPattern(maximum.getRhs(), m_AnyZeroFloat())) {
    return maximum.getLhs();
  }
  return matchPattern(maximum.getLhs(), m_AnyZeroFloat()) ? maximum.getRhs()
                                                          : Value();
}

namespace {

class Matcher {
public:
  Matcher(const FusedRegion &region, const MatrixProduct &product,
          ArrayRef<unsigned> columns, bool strict)
      : region(region), product(product), columns(columns), strict(strict),
        result(stripReshapes(region.getYield().getOperand(0))) {}

  std::optional<ProductEpilogue> match() {
    if (result == reduce().getResult()) {
      return epilogue;
    }
    auto map = result.getDefiningOp<MapOp>();
    if (!map || map->getNumResults() != 1) {
      return std::nullopt;
    }
    Value y = withoutRounding(yieldOf(map).getOperand(0));
    if (Value x = reluArgument(y)) {
      epilogue.activation = format::Activation_Relu;
      y = x;
    } else if (Value x = geluArgument(y)) {
      epilogue.activation = format::Activation_Gelu;
      y = x;
    }
    bool isSum = y.getType().isF32() && addTerms(y, 1) && hasSum;
    return isSum ? std::optional(epilogue) : std::nullopt;
  }

private:
  ReduceOp reduce() { return product.reduce; }

  /// A conversion to the result's type.
  static Value withoutRounding(Value value) {
    auto rounding = value.getDefiningOp<arith::TruncFOp>();
    return rounding ? rounding.getIn() : value;
  }

  /// Adds the terms of factor · value. \returns false if it is no such sum.
  bool addTerms(Value value, double factor) {
    Operation *op = value.getDefiningOp();
    if (auto sum = dyn_cast_or_null<arith::AddFOp>(op)) {
      return addTerms(sum.getLhs(), factor) && addTerms(sum.getRhs(), factor);
    }
    if (auto scaled = dyn_cast_or_null<arith::MulFOp>(op)) {
      FloatAttr constant;
      for (unsigned i = 0; i < 2; ++i) {
        if (matchPattern(scaled->getOperand(i), m_Constant(&constant))) {
          return addTerms(scaled->getOperand(1 - i),
                          factor * constant.getValueAsDouble());
        }
      }
      return false;
    }
    if (auto widening = dyn_cast_or_null<arith::ExtFOp>(op)) {
      op = widening.getIn().getDefiningOp();
      auto rounding = dyn_cast_or_null<arith::TruncFOp>(op);
      if (rounding && mayDrop(rounding)) {
        return addTerms(rounding.getIn(), factor);
      }
    }
    auto load = dyn_cast_or_null<LoadOp>(op);
    return load && addLoad(load, factor);
  }

  /// Whether a rounding is that of the product itself, which the library's
  /// result gets at its end.
  bool mayDrop(arith::TruncFOp rounding) {
    return !strict && rounding.getLoc() == reduce().getLoc() &&
           rounding.getType() == elementTypeOf(result.getType());
  }

  bool addLoad(LoadOp load, double factor) {
    Value source = stripReshapes(load.getSource());
    if (load.getGuard()) {
      return false;
    }
    if (auto argument = dyn_cast<BlockArgument>(source)) {
      return factor == 1 && addOperand(load, argument);
    }
    bool isOwnPlace =
        llvm::equal(load.getIndices(), load->getBlock()->getArguments());
    if (!isOwnPlace || load.getSource() != source) {
      return false;
    }
    if (source == reduce().getResult()) {
      bool isFirst = !hasSum;
      hasSum = true;
      epilogue.alpha = static_cast<float>(factor);
      return isFirst;
    }
    auto map = source.getDefiningOp<MapOp>();
    if (!map || map->getNumResults() != 1) {
      return false;
    }
    Value inner = yieldOf(map).getOperand(0);
    auto rounding = inner.getDefiningOp<arith::TruncFOp>();
    if (rounding && !mayDrop(rounding)) {
      return false;
    }
    return addTerms(withoutRounding(inner), factor);
  }

  /// A bias or a residual, in the result's type.
  bool addOperand(LoadOp load, BlockArgument argument) {
    std::optional<SmallVector<DimExpr>> strides = stridesOfLoad(load);
    if (!strides || sliceOfArgument(argument) ||
        elementTypeOf(argument.getType()) != elementTypeOf(result.getType())) {
      return false;
    }
    int number = static_cast<int>(argument.getArgNumber());
    if (epilogue.bias < 0 && isBias(*strides)) {
      epilogue.bias = number;
      return true;
    }
    if (epilogue.residual < 0 && isResidual(*strides)) {
      epilogue.residual = number;
      return true;
    }
    return false;
  }

  bool hasSize(unsigned coordinate) {
    return !product.extentOf(coordinate).isConstant(1);
  }

  /// Whether neighbouring columns are neighbours, and rows are all the same.
  bool isBias(ArrayRef<DimExpr> strides) {
    DimExpr expected = DimExpr::constant(reduce().getContext(), 1);
    for (unsigned i = static_cast<unsigned>(strides.size()); i-- > 0;) {
      bool isColumn = llvm::is_contained(columns, i);
      if (hasSize(i) &&
          (isColumn ? strides[i] != expected : !strides[i].isConstant(0))) {
        return false;
      }
      expected = isColumn ? expected * product.extentOf(i) : expected;
    }
    return true;
  }

  bool isResidual(ArrayRef<DimExpr> strides) {
    SmallVector<DimExpr> own =
        stridesOf(reduce().getContext(), region.parallel);
    for (unsigned i = 0; i < strides.size(); ++i) {
      if (hasSize(i) && strides[i] != own[i]) {
        return false;
      }
    }
    return true;
  }

  const FusedRegion &region;
  const MatrixProduct &product;
  ArrayRef<unsigned> columns;
  bool strict;
  Value result;
  ProductEpilogue epilogue;
  bool hasSum = false;
};

} // namespace

std::optional<ProductEpilogue>
matchProductEpilogue(const FusedRegion &region, const MatrixProduct &product,
                     ArrayRef<unsigned> columns, bool strict) {
  return Matcher(region, product, columns, strict).match();
}

} // namespace tilewright::library
