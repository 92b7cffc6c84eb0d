//===- ConcatBody.cpp - maps that put tensors end to end ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The importer writes Concat as a chain of guarded loads, each of which falls
// back to the one before it:
//
//   %a = tw.load %x[%i, %j] guard (%j in [0, n)) else 0
//   %b = tw.load %y[%i, %j - n] guard (%j - n in [0, m)) else %a
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/ConcatBody.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// \returns an index that is a size, not a coordinate.
static std::optional<DimExpr> sizeOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return DimExpr::constant(value.getContext(), constant.getSExtValue());
  }
  auto size = value.getDefiningOp<SizeOp>();
  return size ? std::optional<DimExpr>(DimExpr(size.getSize())) : std::nullopt;
}

std::optional<DimExpr> shiftOf(Value index, BlockArgument coordinate) {
  if (index == coordinate) {
    return DimExpr::constant(index.getContext(), 0);
  }
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<arith::SubIOp, arith::AddIOp>(op)) {
    return std::nullopt;
  }
  std::optional<DimExpr> shift = shiftOf(op->getOperand(0), coordinate);
  std::optional<DimExpr> size = sizeOf(op->getOperand(1));
  if (!shift || !size) {
    return std::nullopt;
  }
  return isa<arith::SubIOp>(op) ? *shift + *size : *shift - *size;
}

namespace {

/// Which coordinates a guard lets through.
struct Range {
  unsigned axis;
  DimExpr offset, size;
};

} // namespace

/// Reads `coordinate - offset < size`, unsigned.
static std::optional<Range> rangeOf(Value guard, Block &body) {
  auto compare = guard ? guard.getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::ult) {
    return std::nullopt;
  }
  std::optional<DimExpr> size = sizeOf(compare.getRhs());
  for (BlockArgument coordinate : body.getArguments()) {
    std::optional<DimExpr> shift = shiftOf(compare.getLhs(), coordinate);
    if (shift && size) {
      return Range{coordinate.getArgNumber(), *shift, *size};
    }
  }
  return std::nullopt;
}

/// True if the load reads at the map's coordinates on all axes but `axis`.
static bool isPlainBeside(LoadOp load, unsigned axis) {
  Block &body = *load->getBlock();
  if (load.getIndices().size() != body.getNumArguments()) {
    return false;
  }
  for (auto [number, index] : llvm::enumerate(load.getIndices())) {
    if (number != axis && index != body.getArgument(number)) {
      return false;
    }
  }
  return true;
}

/// True if two pieces read one tensor, the second on from where the first ends.
static bool continues(const ConcatPiece &first, const ConcatPiece &second,
                      unsigned axis) {
  LoadOp a = first.load, b = second.load;
  if (a.getSource() != b.getSource() || !isPlainBeside(a, axis) ||
      !isPlainBeside(b, axis)) {
    return false;
  }
  BlockArgument coordinate = a->getBlock()->getArgument(axis);
  std::optional<DimExpr> shift = shiftOf(a.getIndices()[axis], coordinate);
  return shift && shift == shiftOf(b.getIndices()[axis], coordinate);
}

/// True if the piece's tensor has the piece's dims and is read there.
static bool isWhole(const ConcatPiece &piece, ArrayRef<DimExpr> domain,
                    unsigned axis) {
  LoadOp load = piece.load;
  SmallVector<DimExpr> dims(domain);
  dims[axis] = piece.size;
  return isPlainBeside(load, axis) &&
         dimsOf(load.getSource().getType()) == dims &&
         shiftOf(load.getIndices()[axis],
                 load->getBlock()->getArgument(axis)) == piece.offset;
}

std::optional<ConcatBody> analyseConcat(MapOp map) {
  if (map->getNumResults() != 1) {
    return std::nullopt;
  }
  Block &body = map.getBody().front();
  ConcatBody concat;
  Value value = yieldOf(map).getOperand(0);
  while (auto load = value.getDefiningOp<LoadOp>()) {
    std::optional<Range> range = rangeOf(load.getGuard(), body);
    if (!range || (!concat.pieces.empty() && range->axis != concat.axis)) {
      return std::nullopt;
    }
    concat.axis = range->axis;
    concat.pieces.push_back({load, range->offset, range->size});
    value = load.getOtherwise();
  }
  if (concat.pieces.size() < 2 || !matchPattern(value, m_Constant())) {
    return std::nullopt;
  }
  std::reverse(concat.pieces.begin(), concat.pieces.end());
  DimExpr end = DimExpr::constant(map.getContext(), 0);
  SmallVector<ConcatPiece> merged;
  for (ConcatPiece &piece : concat.pieces) {
    if (piece.offset != end) {
      return std::nullopt;
    }
    end = end + piece.size;
    if (!merged.empty() && continues(merged.back(), piece, concat.axis)) {
      merged.back().size = merged.back().size + piece.size;
    } else {
      merged.push_back(piece);
    }
  }
  SmallVector<DimExpr> domain = map.getDomain();
  if (end != domain[concat.axis]) {
    return std::nullopt;
  }
  for (ConcatPiece &piece : merged) {
    piece.isWhole = isWhole(piece, domain, concat.axis);
  }
  concat.pieces = std::move(merged);
  return concat;
}

} // namespace tilewright
