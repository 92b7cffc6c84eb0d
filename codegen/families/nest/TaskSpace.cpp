//===- TaskSpace.cpp - the order of the tiles of a nest -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/TaskSpace.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/nest/NestSchedule.h"
#include "passes/fuse/Access.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

DimExpr TaskSpace::countOf(const Digit &digit, const TileDomain &domain) {
  DimExpr extent = domain.parallel[digit.axis].extent;
  if (digit.count != 0) {
    return DimExpr::constant(extent.getContext(), digit.count);
  }
  return extent.ceilDiv(digit.step);
}

bool TaskSpace::mayExceed(const Digit &digit, const TileDomain &domain) const {
  if (digit.count == 0) {
    return false;
  }
  std::optional<int64_t> extent =
      domain.parallel[digit.axis].extent.getConstant();
  return !extent || *extent % (digit.step * digit.count) != 0;
}

namespace {

/// The operands of contractions, seen from their lanes.
class Operands {
public:
  Operands(const FusedRegion &region, const TileDomain &domain,
           unsigned vectorAxis)
      : domain(domain) {
    for (ReduceOp reduce : region.getReduces()) {
      for (LoadOp load : reduce.getBody().getOps<LoadOp>()) {
        (moves(load, vectorAxis) ? panels : rows).push_back(load);
      }
    }
  }

  /// True if both operands change along the axis: a batch.
  bool isBatch(unsigned axis) const {
    auto moving = [&](LoadOp load) { return moves(load, axis); };
    return llvm::any_of(rows, moving) && llvm::any_of(panels, moving);
  }

  /// The bytes of one batch of the panels.
  double panelBytes() const { return bytesOf(panels); }
  /// The bytes of one batch of the rows' operand.
  double rowBytes() const { return bytesOf(rows); }
  bool movesRows(unsigned axis) const {
    return llvm::any_of(rows, [&](LoadOp load) { return moves(load, axis); });
  }

private:
  bool moves(LoadOp load, unsigned axis) const {
    Block &body = *load->getBlock();
    return movementOf(load, body.getArgument(domain.parallel[axis].last), 1) !=
           Movement::None;
  }

  static double guessedCount(ArrayRef<DimExpr> dims) {
    double count = 1;
    for (auto [i, dim] : llvm::enumerate(dims)) {
      count *= guessedExtent(dim, i == 0 && dims.size() >= 3);
    }
    return count;
  }

  /// The most elements that the load can meet; with strides, fewer than its
  /// tensor has.
  static double positionsOf(LoadOp load) {
    SmallVector<DimExpr> domain = domainOf(load->getParentOp());
    llvm::SmallPtrSet<Value, 8> coordinates;
    for (Value index : load.getIndices()) {
      coordinates.insert_range(coordinatesOf(index));
    }
    for (auto [argument, extent] :
         llvm::zip(load->getBlock()->getArguments(), domain)) {
      if (!coordinates.contains(argument)) {
        extent = DimExpr::constant(load.getContext(), 1);
      }
    }
    return guessedCount(domain);
  }

  double bytesOf(ArrayRef<LoadOp> loads) const {
    double bytes = 0;
    llvm::SmallPtrSet<Value, 4> counted;
    for (LoadOp load : loads) {
      if (!counted.insert(load.getSource()).second) {
        continue; // two contractions of one operand
      }
      Type type = load.getSource().getType();
      bytes += storageBytes(elementTypeOf(type)) *
               std::min(guessedCount(dimsOf(type)), positionsOf(load));
    }
    for (unsigned axis = 0; axis < domain.parallel.size(); ++axis) {
      if (isBatch(axis)) {
        bytes /= std::max<double>(
            1, guessedExtent(domain.parallel[axis].extent, axis == 0));
      }
    }
    return bytes;
  }

  const TileDomain &domain;
  SmallVector<LoadOp, 2> rows, panels;
};

} // namespace

double panelOperandBytes(const FusedRegion &region, const TileDomain &domain,
                         unsigned vectorAxis) {
  return Operands(region, domain, vectorAxis).panelBytes();
}

/// Tiles in a block along an axis whose extent only run time knows: what lies
/// beyond its end is skipped one by one.
constexpr double mostOpenTiles = 16;

std::pair<unsigned, int64_t> rowBlock(const FusedRegion &region,
                                      const TileDomain &domain,
                                      const NestParameters &parameters,
                                      const TargetSpec &target) {
  if (region.form != Form::Reduce || parameters.vectorAxis < 0 ||
      !llvm::all_of(region.getReduces(), productOfBody)) {
    return {0, 0};
  }
  Operands operands(region, domain, parameters.vectorAxis);
  double budget = static_cast<double>(target.l2Bytes) / 2;
  if (operands.rowBytes() == 0 ||
      (operands.panelBytes() <= budget && !parameters.packs)) {
    return {0, 0};
  }
  // The outermost axis of which one element, with all that is inside, fits.
  SmallVector<unsigned> axes;
  for (unsigned axis = 0; axis < domain.parallel.size(); ++axis) {
    if (static_cast<int64_t>(axis) != parameters.vectorAxis &&
        !operands.isBatch(axis)) {
      axes.push_back(axis);
    }
  }
  double bytes = operands.rowBytes();
  for (unsigned axis : axes) {
    double extent = guessedExtent(domain.parallel[axis].extent,
                                  axis == 0 && domain.parallel.size() >= 3);
    double each = operands.movesRows(axis) ? bytes / extent : bytes;
    if (each <= budget) {
      int64_t tile = parameters.tileOf(axis);
      double count = budget / std::max(each * tile, 1.0);
      double most = domain.parallel[axis].extent.getConstant()
                        ? std::ceil(extent / tile)
                        : mostOpenTiles;
      count = std::clamp(count, 1.0, most);
      return {axis, static_cast<int64_t>(count) * tile};
    }
    bytes = each;
  }
  return {0, 0};
}

/// Batches, blocks of rows, panels, rows of the block.
static TaskSpace blockedSpace(const FusedRegion &region,
                              const TileDomain &domain,
                              const NestParameters &parameters) {
  TaskSpace space;
  Operands operands(region, domain, parameters.vectorAxis);
  SmallVector<TaskSpace::Digit> outer, inner;
  auto panels = static_cast<unsigned>(parameters.vectorAxis);
  for (unsigned axis = 0; axis < domain.parallel.size(); ++axis) {
    int64_t tile = parameters.tileOf(axis);
    if (axis == panels) {
      continue;
    }
    if (operands.isBatch(axis)) {
      space.digits.push_back({axis, tile, 0});
    } else if (axis < parameters.blockAxis) {
      outer.push_back({axis, tile, 0});
    } else if (axis > parameters.blockAxis) {
      inner.push_back({axis, tile, 0});
    } else {
      std::optional<int64_t> extent =
          domain.parallel[axis].extent.getConstant();
      if (extent && *extent <= parameters.block) {
        inner.push_back({axis, tile, 0});
        continue;
      }
      outer.push_back({axis, parameters.block, 0});
      inner.push_back({axis, tile, parameters.block / tile});
    }
  }
  llvm::append_range(space.digits, outer);
  space.digits.push_back({panels, parameters.chunk, 0});
  llvm::append_range(space.digits, inner);
  return space;
}

TaskSpace taskSpaceOf(const FusedRegion &region, const TileDomain &domain,
                      const NestParameters &parameters) {
  if (parameters.block != 0) {
    return blockedSpace(region, domain, parameters);
  }
  TaskSpace space;
  for (unsigned axis = 0; axis < domain.parallel.size(); ++axis) {
    if (static_cast<int64_t>(axis) != parameters.vectorAxis) {
      space.digits.push_back({axis, parameters.tileOf(axis), 0});
    }
  }
  if (parameters.vectorAxis >= 0) {
    space.digits.push_back(
        {static_cast<unsigned>(parameters.vectorAxis), parameters.chunk, 0});
  }
  return space;
}

} // namespace tilewright::families
