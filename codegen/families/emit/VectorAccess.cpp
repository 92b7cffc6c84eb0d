//===- VectorAccess.cpp - what a thread loads at once ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/KernelFrame.h"
#include "ir/Slices.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

namespace {

/// What body arguments are multiples of: the vector axis of its width, the
/// others of axes that are one with it of anything (0), the rest of 1.
class Alignments {
public:
  /// \param first the first coordinate that is one with `last`.
  Alignments(unsigned first, unsigned last, int64_t width)
      : first(first), last(last), width(width) {}

  int64_t ofArgument(unsigned number) const {
    return number == last ? width : number >= first && number < last ? 0 : 1;
  }

  /// \returns what an index is a multiple of in the first lane; 0 for zero.
  int64_t of(Value index) const {
    if (auto argument = dyn_cast<BlockArgument>(index)) {
      return ofArgument(argument.getArgNumber());
    }
    APInt constant;
    if (matchPattern(index, m_ConstantInt(&constant))) {
      return std::abs(constant.getSExtValue());
    }
    Operation *op = index.getDefiningOp();
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      return std::gcd(of(op->getOperand(0)), of(op->getOperand(1)));
    }
    if (isa<arith::MulIOp>(op)) {
      return of(op->getOperand(0)) * of(op->getOperand(1));
    }
    return 1;
  }

private:
  unsigned first, last;
  int64_t width;
};

} // namespace

/// What the constant factors of the strides of `dims` are.
static SmallVector<int64_t> knownStrides(ArrayRef<DimExpr> dims) {
  SmallVector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i].getConstant().value_or(1);
  }
  return strides;
}

/// What the position of an element is a multiple of, from what its coordinates
/// are multiples of.
static int64_t alignmentIn(ArrayRef<int64_t> coordinates, Type tensor,
                           const std::optional<Slice> &slice) {
  SmallVector<int64_t> strides =
      knownStrides(dimsOf(slice ? slice->whole : tensor));
  int64_t alignment = 0;
  if (slice) {
    alignment = slice->offset.getConstant().value_or(1) * strides[slice->axis];
  }
  for (auto [coordinate, stride] : llvm::zip(coordinates, strides)) {
    alignment = std::gcd(alignment, coordinate * stride);
  }
  return alignment;
}

/// The operand of the region that a load reads, or null.
static BlockArgument operandOf(LoadOp load) {
  return dyn_cast<BlockArgument>(stripReshapes(load.getSource()));
}

static bool isConstantOperand(const FusedRegion &region,
                              BlockArgument operand) {
  return region.op.getInputs()[operand.getArgNumber()]
      .getDefiningOp<ConstantOp>();
}

static bool loadFits(const FusedRegion &region, LoadOp load,
                     const TileAxis &axis, const Alignments &alignments,
                     int64_t width, bool constantsMayStride) {
  BlockArgument operand = operandOf(load);
  BlockArgument along = load->getBlock()->getArgument(axis.last);
  if (load.getGuard() && dependsOn(load.getGuard(), along)) {
    return false;
  }
  if (!operand) {
    return true; // in a register, or a table of a few constants
  }
  switch (movementOf(load, along, width)) {
  case Movement::None:
    return true;
  case Movement::Contiguous:
    break;
  case Movement::Strided:
    return constantsMayStride && isConstantOperand(region, operand);
  case Movement::Irregular:
    return false;
  }
  SmallVector<int64_t> coordinates;
  for (Value index : load.getIndices()) {
    coordinates.push_back(alignments.of(index));
  }
  return alignmentIn(coordinates, load.getSource().getType(),
                     sliceOfArgument(operand)) %
             width ==
         0;
}

static bool storeFits(const FusedRegion &region, unsigned result,
                      const Alignments &alignments, int64_t width) {
  Value value = stripReshapes(region.getYield().getOperand(result));
  SmallVector<int64_t> coordinates;
  for (unsigned i = 0; i < region.parallel.size(); ++i) {
    coordinates.push_back(alignments.ofArgument(i));
  }
  return alignmentIn(coordinates, value.getType(),
                     sliceOfResult(region.op, result)) %
             width ==
         0;
}

/// \param first the first coordinate that is one with that of `own`.
static int64_t widthOf(const FusedRegion &region,
                       ArrayRef<Operation *> primitives, const TileAxis &own,
                       unsigned first, bool constantsMayStride) {
  constexpr int64_t mostBytes = 16;
  if (own.last + 1 != region.parallel.size()) {
    return 1;
  }
  int64_t widest = 1;
  SmallVector<LoadOp> loads;
  for (Operation *primitive : primitives) {
    SmallVector<DimExpr> dims = isa<ReduceOp>(primitive)
                                    ? dimsOf(primitive->getResult(0).getType())
                                    : domainOf(primitive);
    if (dims != region.parallel) {
      return 1; // a reshape between primitives
    }
    primitive->walk([&](LoadOp load) {
      loads.push_back(load);
      BlockArgument along = load->getBlock()->getArgument(own.last);
      if (operandOf(load) && movementOf(load, along, 1) != Movement::None) {
        widest = std::max(
            widest, storageBytes(elementTypeOf(load.getSource().getType())));
      }
    });
  }
  for (Value value : region.getYield().getOperands()) {
    widest = std::max(widest, storageBytes(elementTypeOf(value.getType())));
  }
  std::optional<int64_t> extent = own.extent.getConstant();
  for (int64_t width = mostBytes / widest; width > 1; width /= 2) {
    Alignments alignments(first, own.last, width);
    bool fits = !extent || *extent >= width;
    for (LoadOp load : loads) {
      fits = fits &&
             loadFits(region, load, own, alignments, width, constantsMayStride);
    }
    for (unsigned i = 0; i < region.getYield().getNumOperands(); ++i) {
      fits = fits && storeFits(region, i, alignments, width);
    }
    if (fits) {
      return width;
    }
  }
  return 1;
}

int64_t vectorWidth(const FusedRegion &region, const TileDomain &domain,
                    unsigned axis, bool constantsMayStride) {
  unsigned first = axis == 0 ? 0 : domain.parallel[axis - 1].last + 1;
  return widthOf(region, region.primitives, domain.parallel[axis], first,
                 constantsMayStride);
}

int64_t epilogueWidth(const FusedRegion &region, unsigned coordinate) {
  const DimExpr &extent = region.parallel[coordinate];
  return extent.getConstant()
             ? widthOf(region, ArrayRef(region.primitives).drop_front(),
                       {coordinate, extent}, coordinate,
                       /*constantsMayStride=*/false)
             : 1;
}

int64_t foldWidth(const FusedRegion &region, const TileAxis &axis) {
  constexpr int64_t mostBytes = 16;
  ReduceOp reduce = region.getReduce();
  Block &body = reduce.getBody().front();
  unsigned coordinate = reduce.getParallelRank() + axis.last;
  int64_t widest = 1;
  SmallVector<LoadOp> loads(body.getOps<LoadOp>());
  for (LoadOp load : loads) {
    if (operandOf(load) &&
        movementOf(load, body.getArgument(coordinate), 1) != Movement::None) {
      widest = std::max(
          widest, storageBytes(elementTypeOf(load.getSource().getType())));
    }
  }
  TileAxis own = {coordinate, axis.extent};
  for (int64_t width = mostBytes / widest; width > 1; width /= 2) {
    Alignments alignments(coordinate, coordinate, width);
    if (llvm::all_of(loads, [&](LoadOp load) {
          return loadFits(region, load, own, alignments, width,
                          /*constantsMayStride=*/false);
        })) {
      return width;
    }
  }
  return 1;
}

int64_t rowVectorWidth(const FusedRegion &region) {
  constexpr int64_t mostBytes = 16;
  // The last coordinate of whatever is not a scalar of the row.
  auto along = [&](Operation *primitive) {
    Block &body = primitive->getRegion(0).front();
    return body.getNumArguments() > region.rows ? body.getArguments().back()
                                                : BlockArgument();
  };
  int64_t widest = 1;
  SmallVector<LoadOp> loads;
  SmallVector<std::pair<unsigned, Value>> stores;
  DimExpr extent;
  for (Operation *primitive : region.primitives) {
    BlockArgument last = along(primitive);
    if (!last) {
      continue;
    }
    extent = isa<ReduceOp>(primitive)
                 ? cast<ReduceOp>(primitive).getExtents().getDims().back()
                 : domainOf(primitive).back();
    primitive->walk([&](LoadOp load) {
      loads.push_back(load);
      if (operandOf(load) && movementOf(load, last, 1) != Movement::None) {
        widest = std::max(
            widest, storageBytes(elementTypeOf(load.getSource().getType())));
      }
    });
    if (isa<MapOp, ScanOp>(primitive)) {
      for (auto [number, value] :
           llvm::enumerate(region.getYield().getOperands())) {
        if (stripReshapes(value).getDefiningOp() == primitive) {
          stores.push_back({number, stripReshapes(value)});
          widest =
              std::max(widest, storageBytes(elementTypeOf(value.getType())));
        }
      }
    }
  }
  for (int64_t width = mostBytes / widest; extent && width > 1; width /= 2) {
    bool fits = extent.getConstant() && *extent.getConstant() % width == 0;
    for (LoadOp load : loads) {
      unsigned last = along(load->getParentOp()).getArgNumber();
      fits = fits && loadFits(region, load, {last, extent},
                              Alignments(last, last, width), width,
                              /*constantsMayStride=*/false);
    }
    for (auto [number, value] : stores) {
      SmallVector<int64_t> coordinates(dimsOf(value.getType()).size(), 1);
      coordinates.back() = width;
      fits = fits && alignmentIn(coordinates, value.getType(),
                                 sliceOfResult(region.op, number)) %
                             width ==
                         0;
    }
    if (fits) {
      return width;
    }
  }
  return 1;
}

} // namespace tilewright::families
