//===- NestSchedule.cpp - tile parameters by cost -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/contract/Packing.h"
#include "codegen/families/contract/PanelPack.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/nest/TaskSpace.h"
#include "codegen/families/rows/RowBlocks.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

namespace {

// Cycles of one operation on one vector register, on the machines that the
// levels describe; gathers and scatters cost by the lane.
constexpr double fmaCycles = 0.5, loadCycles = 0.55, storeCycles = 1.0,
                 gatherCycles = 0.8, scatterCycles = 1.3, chainCycles = 4.0,
                 stepCycles = 0.6;
/// What an extent counts as when only run time knows it: the leading axis of
/// three or more is a batch, and most batches are one.
constexpr int64_t unknownExtent = 128, unknownBatch = 1;

} // namespace

int64_t guessedExtent(DimExpr extent, bool isBatch) {
  return extent.getConstant().value_or(isBatch ? unknownBatch : unknownExtent);
}

namespace {

/// One nest that may be chosen.
struct Candidate {
  int64_t vectorAxis = -1;
  bool innerVector = false;
  int64_t width = 1;
  SmallVector<NestParameters::Unroll, 2> unroll;
  /// The factors, if panels are packed at run time.
  std::optional<PanelFactors> packed;
  /// Each step reads lines of a panel that lie far from those of the step
  /// before, beyond the second cache.
  bool walksLines = false;

  int64_t copies() const {
    int64_t count = 1;
    for (const NestParameters::Unroll &one : unroll) {
      count *= one.count;
    }
    return count;
  }
};

class CostModel {
public:
  CostModel(const FusedRegion &region, const TargetSpec &target)
      : region(region), target(target), domain(tileDomainOf(region)) {
    for (ArrayRef<TileAxis> reduction : domain.reductions) {
      double size = 1;
      for (const TileAxis &axis : reduction) {
        size *= std::max<int64_t>(extentOf(axis), 1);
      }
      reductionSizes.push_back(size);
      reductionSize += size;
    }
    lanes = target.lanes(computeBytes());
  }

  /// \returns cycles per useful scalar step.
  double cost(const Candidate &candidate);

  bool fitsRegisters(const Candidate &candidate) const;

  /// Decides whether the candidate packs its panels.
  void decidePacking(Candidate &candidate) const;

  const TileDomain &getDomain() const { return domain; }
  /// Before rows, a tile holds lanes of one row …
  bool mayHoldLanes(unsigned axis) const {
    return domain.parallel[axis].last >= region.rows;
  }
  /// … and copies along the innermost row axis, of which tasks take blocks.
  bool mayUnroll(unsigned axis) const {
    return mayHoldLanes(axis) || axis + 1 == domain.parallel.size() ||
           mayHoldLanes(axis + 1);
  }
  int64_t getLanes() const { return lanes; }
  /// \pre `axis` is one of the domain's own.
  int64_t extentOf(const TileAxis &axis) const {
    bool isBatch = domain.parallel.size() >= 3 && axis.last == 0 &&
                   &axis == domain.parallel.data();
    return guessedExtent(axis.extent, isBatch);
  }

private:
  int64_t computeBytes() const;
  double loadCost(LoadOp load, const Candidate &candidate, BlockArgument along,
                  bool isReduceBody);
  double bodyCost(Operation *primitive, const Candidate &candidate,
                  ArrayRef<TileAxis> reduction = {});
  double laneEfficiency(const TileAxis &axis, int64_t width) const;
  double rowTiles(const Candidate &candidate) const;
  double packCost(const Candidate &candidate, BlockArgument along);
  double operationCost(Operation &op, const Candidate &candidate,
                       BlockArgument along) const;

  const FusedRegion &region;
  const TargetSpec &target;
  TileDomain domain;
  SmallVector<double, 2> reductionSizes;
  double reductionSize = 0; // of all reductions
  int64_t lanes = 1;
};

} // namespace

/// The size of the scalars that most of the work is done on.
int64_t CostModel::computeBytes() const {
  Operation *first = region.primitives.front();
  Type type =
      computeType(scalarType(elementTypeOf(first->getResult(0).getType())));
  int64_t bytes = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() / 8 : 8;
  return std::clamp<int64_t>(bytes, 4, 8);
}

/// The argument of a primitive that stands for axis `axis` of the nest.
static BlockArgument argumentOf(const FusedRegion &region, Operation *primitive,
                                const TileAxis &axis) {
  Block &body = primitive->getRegion(0).front();
  unsigned position = axis.last;
  if (!isa<ReduceOp>(primitive)) {
    // The maps may have other leading axes; the last ones agree.
    size_t rank = domainOf(primitive).size();
    position = position + rank < region.parallel.size()
                   ? 0
                   : position + rank - region.parallel.size();
  }
  return body.getNumArguments() == 0
             ? BlockArgument()
             : body.getArgument(
                   std::min<unsigned>(position, body.getNumArguments() - 1));
}

double CostModel::laneEfficiency(const TileAxis &axis, int64_t width) const {
  int64_t extent = std::max<int64_t>(extentOf(axis), 1);
  int64_t rest = extent % width;
  int64_t rounded = extent - rest;
  if (rest != 0) {
    rounded += target.hasMaskedOps ? width + width / 8 : rest * width;
  }
  return static_cast<double>(extent) / rounded;
}

/// True if the accumulators fit beside one step's vectors. Where the vectors of
/// one step come back in the next (a window that slides along the copies), all
/// of them stay.
bool CostModel::fitsRegisters(const Candidate &candidate) const {
  int64_t vectors = std::max<int64_t>(candidate.width / lanes, 1);
  int64_t step = vectors;
  for (ReduceOp reduce : region.getReduces()) {
    if (candidate.vectorAxis < 0) {
      break;
    }
    Block &body = reduce.getBody().front();
    BlockArgument along =
        body.getArgument(domain.parallel[candidate.vectorAxis].last);
    for (LoadOp load : body.getOps<LoadOp>()) {
      int64_t copies = 1;
      bool hasLanes = movementOf(load, along, 1) != Movement::None;
      for (const NestParameters::Unroll &unroll : candidate.unroll) {
        BlockArgument axis =
            body.getArgument(domain.parallel[unroll.axis].last);
        copies *=
            movementOf(load, axis, 1) != Movement::None ? unroll.count : 1;
      }
      step = std::max(step, hasLanes ? copies * vectors : 0);
    }
  }
  return candidate.copies() * vectors + step + 2 <= target.vectorRegisters;
}

double CostModel::loadCost(LoadOp load, const Candidate &candidate,
                           BlockArgument along, bool isReduceBody) {
  double instances = 1;
  for (const NestParameters::Unroll &unroll : candidate.unroll) {
    BlockArgument argument =
        argumentOf(region, load->getParentOp(), domain.parallel[unroll.axis]);
    if (argument && movementOf(load, argument, 1) != Movement::None) {
      instances *= unroll.count;
    }
  }
  double vectors =
      std::max<double>(static_cast<double>(candidate.width) / lanes, 1);
  if (!along || candidate.width == 1) {
    return instances * loadCycles;
  }
  Movement movement = movementOf(load, along, candidate.width);
  if (isReduceBody && movement == Movement::Strided &&
      isPackable(region, load, along, candidate.width)) {
    movement = Movement::Contiguous;
  }
  switch (movement) {
  case Movement::None:
    return instances * loadCycles;
  case Movement::Contiguous:
    return instances * vectors * loadCycles;
  case Movement::Strided:
  case Movement::Irregular:
    break;
  }
  return instances * candidate.width * gatherCycles;
}

/// The tiles that multiply one panel.
double CostModel::rowTiles(const Candidate &candidate) const {
  double tiles = 1;
  for (unsigned axis = 0; axis < domain.parallel.size(); ++axis) {
    if (!movesPanel(region, domain, *candidate.packed, axis)) {
      tiles *= static_cast<double>(extentOf(domain.parallel[axis]));
    }
  }
  return tiles / static_cast<double>(candidate.copies());
}

void CostModel::decidePacking(Candidate &candidate) const {
  /// A panel that fewer tiles multiply is not worth a copy.
  constexpr double fewTiles = 3;
  std::optional<PanelFactors> factors =
      candidate.vectorAxis < 0
          ? std::nullopt
          : panelFactorsOf(region, domain, candidate.vectorAxis);
  if (!factors) {
    return;
  }
  PanelPlace place =
      placeOf(region, domain, *factors, candidate.vectorAxis, candidate.width);
  // Lanes of an open size may be any distance apart.
  bool isOpen =
      !domain.parallel[candidate.vectorAxis].extent.getConstant().has_value();
  bool isLarge =
      isOpen || panelOperandBytes(region, domain, candidate.vectorAxis) >
                    static_cast<double>(target.l2Bytes) / 2;
  bool isWanted = place == PanelPlace::Computed ||
                  (place == PanelPlace::Lanes && isLarge) ||
                  (place == PanelPlace::Scattered &&
                   rowsAreInOrder(region, domain, *factors));
  std::optional<int64_t> bytes =
      panelBytes(region, domain, candidate.width).getConstant();
  candidate.packed = factors;
  // The copies of a tile share the panel.
  isWanted &= llvm::none_of(
      candidate.unroll, [&](const NestParameters::Unroll &unroll) {
        return movesPanel(region, domain, *factors, unroll.axis);
      });
  if (!isWanted || rowTiles(candidate) < fewTiles ||
      bytes.value_or(0) > target.l2Bytes / 2) {
    candidate.packed.reset();
    candidate.walksLines = place == PanelPlace::Lanes && isLarge;
  }
}

/// What one operation of a reduction's body that is no load costs: once for
/// each copy that it differs in, and for each vector if it differs in lanes.
double CostModel::operationCost(Operation &op, const Candidate &candidate,
                                BlockArgument along) const {
  Value result = op.getResult(0);
  double instances = 1;
  for (const NestParameters::Unroll &unroll : candidate.unroll) {
    BlockArgument axis =
        argumentOf(region, op.getParentOp(), domain.parallel[unroll.axis]);
    instances *=
        dependsOn(result, axis) ? static_cast<double>(unroll.count) : 1;
  }
  bool hasLanes = along && dependsOn(result, along);
  double vectors = static_cast<double>(candidate.width) / lanes;
  return instances * fmaCycles * (hasLanes ? std::max(vectors, 1.0) : 1);
}

/// The cycles of packing one step of a panel.
double CostModel::packCost(const Candidate &candidate, BlockArgument along) {
  Candidate single = candidate;
  single.unroll.clear();
  single.packed.reset();
  double vectors =
      std::max<double>(static_cast<double>(candidate.width) / lanes, 1);
  double cycles = vectors * storeCycles + stepCycles;
  for (Operation *op : neededFor(candidate.packed->panel)) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      cycles += loadCost(load, single, along, /*isReduceBody=*/true);
    } else if (!isa<arith::ConstantOp>(op) &&
               !op->getResult(0).getType().isIndex()) {
      cycles += operationCost(*op, single, along);
    }
  }
  return cycles;
}

double CostModel::bodyCost(Operation *primitive, const Candidate &candidate,
                           ArrayRef<TileAxis> reduction) {
  Block &body = primitive->getRegion(0).front();
  auto reduce = dyn_cast<ReduceOp>(primitive);
  BlockArgument along;
  if (candidate.vectorAxis >= 0) {
    along =
        argumentOf(region, primitive, domain.parallel[candidate.vectorAxis]);
  } else if (candidate.innerVector && !reduction.empty()) {
    along = body.getArgument(reduce.getParallelRank() + reduction.back().last);
  }
  double vectors =
      std::max<double>(static_cast<double>(candidate.width) / lanes, 1);
  double loads = 0, arithmetic = 0;
  llvm::SmallPtrSet<Operation *, 16> apart;
  if (reduce && candidate.packed) {
    llvm::SmallPtrSet<Operation *, 16> rows = neededFor(candidate.packed->rows);
    for (Operation *op : neededFor(candidate.packed->panel)) {
      if (!rows.contains(op)) {
        apart.insert(op);
      }
    }
    loads += vectors * loadCycles;
  }
  for (Operation &op : body.without_terminator()) {
    if (apart.contains(&op)) {
      continue;
    }
    if (auto load = dyn_cast<LoadOp>(op)) {
      Operation *source = stripReshapes(load.getSource()).getDefiningOp();
      loads +=
          source && isPrimitive(source)
              ? 0
              : loadCost(load, candidate, along, static_cast<bool>(reduce));
    } else if (!isa<arith::ConstantOp>(op) &&
               !op.getResult(0).getType().isIndex() &&
               !(reduce && op.getResult(0).getType().isInteger(1))) {
      // Guards are decided outside of the inner loops.
      arithmetic += reduce ? operationCost(op, candidate, along)
                           : candidate.copies() * vectors * fmaCycles;
    }
  }
  double cycles = std::max(loads, arithmetic) + stepCycles;
  if (reduce && candidate.walksLines) {
    constexpr double walkCycles = 10, lineCycles = 2, lineBytes = 64;
    cycles += walkCycles + lineCycles * static_cast<double>(candidate.width) *
                               static_cast<double>(computeBytes()) / lineBytes;
  }
  if (reduce && candidate.packed) {
    cycles += packCost(candidate, along) / rowTiles(candidate);
  }
  if (reduce) {
    // A fold waits for the one before it.
    cycles = std::max(cycles, chainCycles);
  }
  return cycles;
}

double CostModel::cost(const Candidate &candidate) {
  double vectors =
      std::max<double>(static_cast<double>(candidate.width) / lanes, 1);
  double perStep = 0, perTile = 0;
  double waste = 0; // steps of whole vectors for each that is useful
  for (auto [reduce, axes, size] :
       llvm::zip(region.getReduces(), domain.reductions, reductionSizes)) {
    double share = size / reductionSize;
    perStep += share * bodyCost(reduce, candidate, axes);
    waste += candidate.innerVector
                 ? share / laneEfficiency(axes.back(), candidate.width)
                 : share;
  }
  for (Operation *primitive : region.primitives) {
    if (isa<MapOp>(primitive)) {
      Candidate own = candidate;
      own.width = candidate.innerVector ? 1 : candidate.width;
      perTile += bodyCost(primitive, own);
    }
  }
  for (Value value : region.getYield().getOperands()) {
    // Only the last axis is contiguous in an output.
    (void)value;
    bool isContiguous = candidate.vectorAxis < 0 ||
                        domain.parallel[candidate.vectorAxis].last + 1 ==
                            region.parallel.size();
    perTile +=
        candidate.copies() * (candidate.innerVector ? storeCycles
                              : isContiguous ? vectors * storeCycles
                                             : candidate.width * scatterCycles);
  }
  double efficiency = 1;
  double steps = candidate.copies() * candidate.width;
  double trips = reductionSize;
  if (candidate.innerVector) {
    efficiency /= waste;
    trips /= candidate.width;
    perTile +=
        candidate.copies() * (3.0 * llvm::Log2_64_Ceil(candidate.width) + 4.0);
  } else if (candidate.vectorAxis >= 0) {
    efficiency *=
        laneEfficiency(domain.parallel[candidate.vectorAxis], candidate.width);
  }
  for (const NestParameters::Unroll &unroll : candidate.unroll) {
    double extent =
        std::max<int64_t>(extentOf(domain.parallel[unroll.axis]), 1);
    efficiency *= extent / (std::ceil(extent / unroll.count) * unroll.count);
  }
  // Of equal tiles, the one whose copies are the closest in memory.
  for (const NestParameters::Unroll &unroll : candidate.unroll) {
    efficiency *= 1 - 1e-6 * (domain.parallel.size() - unroll.axis);
  }
  bool isReduce = region.form == Form::Reduce;
  double cycles = isReduce ? perStep + perTile / std::max(trips, 1.0) : perTile;
  return cycles / (steps * efficiency);
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// The most copies of a register tile along one axis.
constexpr int64_t maxUnroll = 16;

/// Adds a candidate for every unrolling of `base` that fits.
static void addUnrolled(const CostModel &model, const Candidate &base,
                        SmallVectorImpl<Candidate> &candidates) {
  ArrayRef<TileAxis> axes = model.getDomain().parallel;
  candidates.push_back(base);
  for (unsigned axis = 0; axis < axes.size(); ++axis) {
    if (static_cast<int64_t>(axis) == base.vectorAxis ||
        !model.mayUnroll(axis)) {
      continue;
    }
    bool isDynamic = !axes[axis].extent.getConstant();
    int64_t limit =
        isDynamic ? maxUnroll : std::min(maxUnroll, model.extentOf(axes[axis]));
    for (int64_t count = 2; count <= limit; ++count) {
      Candidate next = base;
      next.unroll.push_back({axis, count});
      if (!model.fitsRegisters(next)) {
        break;
      }
      candidates.push_back(next);
      // Dot products share both operands in a square tile.
      for (unsigned second = axis + 1; base.innerVector && second < axes.size();
           ++second) {
        std::optional<int64_t> extent = axes[second].extent.getConstant();
        if (count == 4 && (!extent || *extent >= 4)) {
          Candidate square = next;
          square.unroll.push_back({second, 4});
          candidates.push_back(square);
        }
      }
    }
  }
}

/// True if some reduction has no loop, or there is none at all.
static bool hasEmptyReduction(const TileDomain &domain) {
  return domain.reductions.empty() ||
         llvm::any_of(domain.reductions,
                      [](ArrayRef<TileAxis> axes) { return axes.empty(); });
}

static SmallVector<Candidate> candidatesOf(const CostModel &model,
                                           NestShape shape) {
  SmallVector<Candidate> candidates;
  const TileDomain &domain = model.getDomain();
  int64_t lanes = model.getLanes();
  bool isContract = shape == NestShape::Contract;
  if (shape != NestShape::ReduceRows) {
    for (unsigned axis = 0; axis < domain.parallel.size(); ++axis) {
      if (!model.mayHoldLanes(axis)) {
        continue;
      }
      SmallVector<int64_t> widths = {2 * lanes};
      if (shape != NestShape::Pointwise) {
        widths = {lanes, 2 * lanes, 4 * lanes, 8 * lanes};
      }
      for (int64_t width : widths) {
        Candidate base;
        base.vectorAxis = axis;
        base.width = width;
        if (isContract) {
          addUnrolled(model, base, candidates);
        } else {
          candidates.push_back(base);
        }
      }
    }
  }
  if ((isContract || shape == NestShape::ReduceRows) &&
      !hasEmptyReduction(domain)) {
    for (int64_t width : {lanes, 4 * lanes}) {
      Candidate base;
      base.innerVector = true;
      base.width = width;
      if (isContract && width == lanes) {
        addUnrolled(model, base, candidates);
      } else {
        candidates.push_back(base);
      }
    }
  }
  return candidates;
}

/// Elements of the vector axis in one task of a pointwise kernel.
static int64_t pointwiseChunk(const TileAxis &axis, int64_t width) {
  constexpr int64_t elementsPerTask = 4096;
  int64_t extent = axis.extent.getConstant().value_or(elementsPerTask);
  int64_t rounded = (std::max<int64_t>(extent, 1) + width - 1) / width * width;
  return std::min(rounded, std::max(elementsPerTask / width * width, width));
}

std::optional<Refusal> refuseNest(const FusedRegion &region, NestShape shape,
                                  const TargetSpec &target) {
  TileDomain domain = tileDomainOf(region);
  if (shape == NestShape::Pointwise || shape == NestShape::ReduceColumns) {
    return domain.parallel.empty()
               ? std::optional(Refusal{"TWT101", "there is a single element"})
               : std::nullopt;
  }
  SmallVector<ReduceOp> reduces = region.getReduces();
  if (hasEmptyReduction(domain)) {
    return Refusal{"TWT102", "there is nothing to reduce"};
  }
  if (shape == NestShape::Contract && !llvm::all_of(reduces, productOfBody)) {
    return Refusal{"TWT103", "it is no sum of products"};
  }
  if (shape == NestShape::ReduceRows) {
    if (llvm::any_of(reduces, [](ReduceOp op) { return op.isArg(); })) {
      return Refusal{"TWT104", "positions are compared one after the other"};
    }
    std::optional<NestChoice> rows = chooseNest(region, shape, target);
    std::optional<NestChoice> columns =
        domain.parallel.empty()
            ? std::nullopt
            : chooseNest(region, NestShape::ReduceColumns, target);
    if (columns && columns->cost < rows->cost) {
      return Refusal{"TWT105", "lanes along the result cost less"};
    }
  }
  return std::nullopt;
}

/// The tile for few rows: those of a product may be one or a few (requests,
/// tokens) where their number is known at run time only. The places of an image
/// are many, and a second tile doubles what there is to compile.
static int64_t shortTileOf(const FusedRegion &region, const TileDomain &domain,
                           const Candidate &candidate) {
  constexpr int64_t part = 3;
  auto root = region.getReduce()->getAttrOfType<StringAttr>("root");
  if (root && root == "conv") {
    return 1;
  }
  int64_t tile = 1;
  for (const NestParameters::Unroll &unroll : candidate.unroll) {
    if (!domain.parallel[unroll.axis].extent.getConstant()) {
      tile = std::max(tile, unroll.count / part);
    }
  }
  return tile;
}

std::optional<NestChoice> chooseNest(const FusedRegion &region, NestShape shape,
                                     const TargetSpec &target) {
  CostModel model(region, target);
  std::optional<Candidate> best;
  double bestCost = 0;
  for (Candidate &candidate : candidatesOf(model, shape)) {
    if (!model.fitsRegisters(candidate)) {
      continue;
    }
    if (shape == NestShape::Contract) {
      model.decidePacking(candidate);
    }
    double cost = model.cost(candidate);
    if (!best || cost < bestCost) {
      best = candidate;
      bestCost = cost;
    }
  }
  if (!best) {
    return std::nullopt;
  }
  NestChoice choice;
  choice.cost = bestCost;
  choice.parameters.vectorAxis = best->vectorAxis;
  choice.parameters.width = best->width;
  choice.parameters.innerVector = best->innerVector;
  choice.parameters.unroll.assign(best->unroll.begin(), best->unroll.end());
  choice.parameters.chunk = best->width;
  choice.parameters.packs = best->packed.has_value();
  if (shape == NestShape::Contract) {
    choice.parameters.shortTile = shortTileOf(region, model.getDomain(), *best);
  }
  if (region.rows > 0) {
    std::tie(choice.parameters.blockAxis, choice.parameters.block) =
        rowsOfTask(region, model.getDomain(), choice.parameters, target);
  } else if (shape == NestShape::Contract) {
    std::tie(choice.parameters.blockAxis, choice.parameters.block) =
        rowBlock(region, model.getDomain(), choice.parameters, target);
    // Where panels change from task to task, there is nothing to keep.
    choice.parameters.packs &= choice.parameters.block != 0;
  }
  if (shape == NestShape::Pointwise) {
    choice.parameters.chunk = pointwiseChunk(
        model.getDomain().parallel[best->vectorAxis], best->width);
  }
  return choice;
}

int64_t rowWidth(const FusedRegion &region, const TargetSpec &target) {
  int64_t lanes = target.lanes(4);
  int64_t extent = 0;
  for (Operation *primitive : region.primitives) {
    SmallVector<DimExpr> domain = domainOf(primitive);
    if (domain.size() > region.rows) {
      extent =
          std::max(extent, domain.back().getConstant().value_or(unknownExtent));
    }
  }
  if (extent >= 4 * lanes) {
    return 4 * lanes;
  }
  // A machine without masks goes through what is left one by one.
  int64_t width = target.hasMaskedOps ? 2 * lanes : lanes;
  while (width > 1 && width / 2 >= extent) {
    width /= 2;
  }
  if (!target.hasMaskedOps && width > extent) {
    width = 1;
  }
  return width;
}

} // namespace tilewright::families
