//===- ProductCall.cpp - a region as one call of cuBLASLt -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Coordinates that a factor and the result step through in the same way are one
// extent of the library's matrices.
//
//===----------------------------------------------------------------------===//

#include "codegen/library/ProductCall.h"
#include "codegen/library/ProductEpilogue.h"
#include "ir/Slices.h"

using namespace mlir;
using namespace tilewright::tw;
using namespace tilewright::families;

namespace tilewright::library {

namespace {

using Strides = SmallVector<DimExpr>; // by coordinate of the reduction's body

/// Coordinates as one.
struct Group {
  SmallVector<unsigned> coordinates; // with more than one position, in order
  DimExpr extent;

  /// \returns the stride of the last of them, if the others follow from it;
  /// 0 for a group without coordinates.
  std::optional<DimExpr> strideIn(const Strides &strides,
                                  const MatrixProduct &product) const {
    DimExpr last = DimExpr::constant(extent.getContext(), 0), expected = last;
    for (unsigned coordinate : llvm::reverse(coordinates)) {
      if (coordinate == coordinates.back()) {
        last = strides[coordinate];
      } else if (strides[coordinate] != expected) {
        return std::nullopt;
      }
      expected = strides[coordinate] * product.extentOf(coordinate);
    }
    return last;
  }
};

/// A factor as the library sees it.
struct Matrix {
  bool isTransposed = false;
  DimExpr row, batch; // elements from one stored row or batch to the next
};

/// D = A B, its coordinates and where the three lie.
struct Matrices {
  Group batches, rows, columns, depth;
  Matrix a, b, d;
};

class Matcher {
public:
  Matcher(const FusedRegion &region, const MatrixProduct &product)
      : region(region), product(product), context(region.op->getContext()) {}

  std::optional<plan::ProductCall> match(bool tf32, bool strict,
                                         Refusal &refusal) {
    plan::ProductCall call;
    std::optional<unsigned> a = operandOf(product.a), b = operandOf(product.b);
    if (!a || !b || region.op->getNumResults() != 1 ||
        sliceOfResult(region.op, 0)) {
      refusal =
          Refusal{"TWT150", "an operand or the result lies in a larger tensor"};
      return std::nullopt;
    }
    if (!hasTypes()) {
      refusal = Refusal{"TWT151", "cuBLASLt does not multiply these types"};
      return std::nullopt;
    }
    std::optional<Matrices> matrices = matchMatrices();
    if (!matrices) {
      refusal = Refusal{"TWT152", "a factor or the result is no plain matrix"};
      return std::nullopt;
    }
    bool isByte = storageBytes() == 1;
    if (isByte && (matrices->a.isTransposed || !matrices->b.isTransposed)) {
      refusal =
          Refusal{"TWT153",
                  "cuBLASLt multiplies bytes along rows of both factors alone"};
      return std::nullopt;
    }
    std::optional<ProductEpilogue> epilogue = matchProductEpilogue(
        region, product, matrices->columns.coordinates, strict);
    if (!epilogue) {
      refusal = Refusal{"TWT154", "what follows is no epilogue of cuBLASLt"};
      return std::nullopt;
    }
    call.a = *a;
    call.b = *b;
    call.c = epilogue->residual;
    call.bias = epilogue->bias;
    call.transposedA = matrices->a.isTransposed;
    call.transposedB = matrices->b.isTransposed;
    call.tf32 = tf32 && product.a.element.isF32();
    call.activation = epilogue->activation;
    call.alpha = epilogue->alpha;
    call.sizes = {matrices->batches.extent, matrices->rows.extent,
                  matrices->columns.extent, matrices->depth.extent};
    for (const Matrix &matrix :
         {matrices->a, matrices->b, matrices->d, matrices->d}) {
      call.sizes.append({matrix.row, matrix.batch});
    }
    return call;
  }

private:
  /// What rows or columns have outermost may be a batch to the library, in
  /// which the other factor does not move.
  std::optional<Matrices> matchMatrices() {
    auto matrices = matricesOf(product.batches, product.rows, product.columns);
    for (bool ofColumns : {true, false}) {
      SmallVector<unsigned> batches = product.batches, rows = product.rows,
                            columns = product.columns;
      SmallVector<unsigned> &from = ofColumns ? columns : rows;
      if (!matrices && from.size() > 1) {
        auto *outermost = llvm::min_element(from);
        batches.push_back(*outermost);
        from.erase(outermost);
        matrices = matricesOf(batches, rows, columns);
      }
    }
    return matrices;
  }

  std::optional<Matrices> matricesOf(ArrayRef<unsigned> batches,
                                     ArrayRef<unsigned> rows,
                                     ArrayRef<unsigned> columns) {
    Matrices result;
    result.batches = groupOf(batches);
    result.rows = groupOf(rows);
    result.columns = groupOf(columns);
    result.depth = groupOf(product.depth);
    std::optional<Matrix> a = factor(product.a, result.batches, result.rows,
                                     result.depth),
                          b = factor(product.b, result.batches, result.depth,
                                     result.columns),
                          d = resultMatrix(result.batches, result.rows,
                                           result.columns);
    if (!a || !b || !d) {
      return std::nullopt;
    }
    result.a = *a;
    result.b = *b;
    result.d = *d;
    return result;
  }

  std::optional<unsigned> operandOf(const Factor &factor) {
    if (!factor.load || factor.load.getGuard()) {
      return std::nullopt;
    }
    auto argument =
        dyn_cast<BlockArgument>(stripReshapes(LoadOp(factor.load).getSource()));
    return argument && !sliceOfArgument(argument)
               ? std::optional(argument.getArgNumber())
               : std::nullopt;
  }

  int64_t storageBytes() {
    return static_cast<int64_t>(product.a.element.getIntOrFloatBitWidth()) / 8;
  }

  bool hasTypes() {
    Type a = product.a.element, b = product.b.element;
    Type d = elementTypeOf(region.op->getResult(0).getType());
    if (a.isF16() || a.isBF16() || a.isF32()) {
      return a == b && (d.isF32() || d == a);
    }
    if (isa<IntegerType>(a)) {
      return a == b && a.isInteger(8) && !a.isUnsignedInteger() &&
             d.isInteger(32) && !d.isUnsignedInteger();
    }
    bool areE5M2 = isa<Float8E5M2Type>(a) && isa<Float8E5M2Type>(b);
    return isa<Float8E4M3FNType, Float8E5M2Type>(a) &&
           isa<Float8E4M3FNType, Float8E5M2Type>(b) && !areE5M2 &&
           (d.isF32() || d.isF16() || d.isBF16());
  }

  Group groupOf(ArrayRef<unsigned> coordinates) {
    Group group;
    group.extent = product.extentOf(coordinates);
    for (unsigned coordinate : coordinates) {
      if (!product.extentOf(coordinate).isConstant(1)) {
        group.coordinates.push_back(coordinate);
      }
    }
    llvm::sort(group.coordinates);
    return group;
  }

  /// A matrix of `rows` and `columns`, one of which lies side by side.
  std::optional<Matrix> matrix(const Strides &strides, const Group &batches,
                               const Group &rows, const Group &columns) {
    std::optional<DimExpr> batch = batches.strideIn(strides, product),
                           row = rows.strideIn(strides, product),
                           column = columns.strideIn(strides, product);
    if (!batch || !row || !column) {
      return std::nullopt;
    }
    // A single row lies as far from the next as it is long.
    if (columns.coordinates.empty() || column->isConstant(1)) {
      DimExpr length = rows.coordinates.empty() ? columns.extent : *row;
      return Matrix{false, length, *batch};
    }
    if (rows.coordinates.empty() || row->isConstant(1)) {
      return Matrix{true, *column, *batch};
    }
    return std::nullopt;
  }

  std::optional<Matrix> factor(const Factor &factor, const Group &batches,
                               const Group &rows, const Group &columns) {
    std::optional<Strides> strides = stridesOfLoad(factor.load);
    return strides ? matrix(*strides, batches, rows, columns) : std::nullopt;
  }

  std::optional<Matrix> resultMatrix(const Group &batches, const Group &rows,
                                     const Group &columns) {
    Strides strides = stridesOf(context, region.parallel);
    std::optional<Matrix> result = matrix(strides, batches, rows, columns);
    return result && !result->isTransposed ? result : std::nullopt;
  }

  const FusedRegion &region;
  const MatrixProduct &product;
  MLIRContext *context;
};

} // namespace

std::optional<plan::ProductCall> matchProductCall(const FusedRegion &region,
                                                  const MatrixProduct &product,
                                                  bool tf32, bool strict,
                                                  Refusal &refusal) {
  return Matcher(region, product).match(tf32, strict, refusal);
}

} // namespace tilewright::library
