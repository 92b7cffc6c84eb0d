//===- GlobalTraffic.cpp - what a GPU's kernel reads and writes -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/GlobalTraffic.h"
#include "codegen/families/attention/AttentionTactics.h"
#include "codegen/families/contract/MatrixProduct.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/KernelFrame.h"
#include "codegen/families/rows/RowFold.h"
#include "codegen/families/rows/RowSchedule.h"
#include "ir/TensorTypes.h"
#include <set>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {
namespace {

/// A result computed in tiles: which coordinates are its rows and columns, and
/// how many of each share what was loaded for them.
struct Plane {
  SmallVector<unsigned> rows, columns;
  int64_t tileRows = 1, tileColumns = 1; ///< of a block
  /// Rows for which a thread has what it loaded, or for which a warp loads the
  /// same sectors at once.
  int64_t heldRows = 1;
};

class TrafficCounter {
public:
  explicit TrafficCounter(FusedOp op)
      : op(op), region(*analyseRegion(op)), context(op.getContext()),
        tactic(cast<DictionaryAttr>(*op.getTactic())) {}

  GlobalTraffic run();

private:
  StringRef name() const { return tactic.getAs<StringAttr>("name").getValue(); }
  std::optional<Plane> planeOf();
  DimExpr loadBytes(Operation *primitive, LoadOp load);
  DimExpr tileLoads(Operation *primitive, LoadOp load);
  int64_t sectorShare(LoadOp load, ArrayRef<DimExpr> domain, DimExpr shared);
  bool wasLoaded(LoadOp load);
  DimExpr passLoads();
  DimExpr scatterLoads();

  FusedOp op;
  FusedRegion region;
  MLIRContext *context;
  DictionaryAttr tactic;
  std::optional<Plane> plane;
  std::set<std::pair<void *, SmallVector<int64_t>>> seen;
};

} // namespace

std::optional<Plane> TrafficCounter::planeOf() {
  bool usesUnits = name() == "contract.mma";
  if (!usesUnits && name() != "contract.simt") {
    return std::nullopt;
  }
  auto tile = tactic.getAs<DenseI64ArrayAttr>("tile");
  Plane result;
  Refusal refusal;
  auto product = usesUnits ? matchMatrixProduct(region, refusal)
                           : matchSumOfProducts(region);
  if (!product) {
    return std::nullopt;
  }
  result.rows = product->rows;
  result.columns = product->columns;
  if (usesUnits) {
    // The epilogue: each thread has four columns.
    constexpr int64_t columnsOfWarp = 4 * GpuSpec::warpSize;
    result.heldRows = std::max<int64_t>(columnsOfWarp / tile[1], 1);
  }
  result.tileRows = tile[0];
  result.tileColumns = tile[1];
  if (auto thread = tactic.getAs<DenseI64ArrayAttr>("thread")) {
    result.heldRows = thread[0];
  }
  return result;
}

static bool dependsOn(LoadOp load, unsigned coordinate) {
  return families::dependsOn(load.getResult(),
                             load->getBlock()->getArgument(coordinate));
}

static DimExpr elementBytes(Value tensor) {
  return DimExpr::constant(tensor.getContext(),
                           storageBytes(elementTypeOf(tensor.getType())));
}

/// How many elements of a plane `load` reads, each tile on its own.
DimExpr TrafficCounter::tileLoads(Operation *primitive, LoadOp load) {
  bool isReduction = isa<ReduceOp>(primitive);
  SmallVector<DimExpr> domain = domainOf(primitive);
  DimExpr count = DimExpr::constant(context, 1);
  auto multiply = [&](ArrayRef<unsigned> side, int64_t shared) {
    DimExpr extent = DimExpr::constant(context, 1);
    bool isNeeded = false;
    for (unsigned coordinate : side) {
      extent = extent * domain[coordinate];
      isNeeded |= dependsOn(load, coordinate);
      domain[coordinate] = DimExpr::constant(context, 1);
    }
    count = count * (isNeeded ? extent : extent.ceilDiv(shared));
  };
  multiply(plane->rows, isReduction ? plane->tileRows : plane->heldRows);
  multiply(plane->columns, isReduction ? plane->tileColumns : 1);
  return count * productOf(context, domain);
}

DimExpr TrafficCounter::loadBytes(Operation *primitive, LoadOp load) {
  if (plane) {
    return tileLoads(primitive, load) * elementBytes(load.getSource());
  }
  SmallVector<DimExpr> domain = domainOf(primitive);
  size_t rank = domain.size();
  DimExpr shared = DimExpr::constant(context, 1);
  while (!domain.empty() && !dependsOn(load, domain.size() - 1)) {
    shared = shared * domain.back();
    domain.pop_back();
  }
  if (domain.size() == rank) {
    return productOf(context, domain) * elementBytes(load.getSource());
  }
  // Threads side by side share one sector of memory.
  constexpr int64_t sectorBytes = 32;
  return productOf(context, domain).ceilDiv(sectorShare(load, domain, shared)) *
         sectorBytes;
}

/// Of a load that the innermost coordinates, of product `shared`, do not move:
/// how many elements side by side a warp reads from one sector.
int64_t TrafficCounter::sectorShare(LoadOp load, ArrayRef<DimExpr> domain,
                                    DimExpr shared) {
  constexpr int64_t sectorBytes = 32;
  auto chunk = tactic.getAs<IntegerAttr>("chunk");
  std::optional<int64_t> count = shared.getConstant();
  bool isAlong = !domain.empty() && !load.getIndices().empty() &&
                 load.getIndices().back() ==
                     load->getBlock()->getArgument(domain.size() - 1);
  if (!chunk || !count || *count == 0 || !isAlong) {
    return 1;
  }
  int64_t ofWarp = GpuSpec::warpSize * chunk.getInt() / *count,
          ofSector =
              sectorBytes / *elementBytes(load.getSource()).getConstant();
  int64_t extent = domain.back().getConstant().value_or(1);
  return std::clamp<int64_t>(std::min(ofWarp, extent), 1, ofSector);
}

/// Whether a kernel that keeps a row in registers has it from an earlier load.
bool TrafficCounter::wasLoaded(LoadOp load) {
  SmallVector<int64_t> place;
  for (Value index : load.getIndices()) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (!argument || load.getGuard()) {
      return false;
    }
    place.push_back(argument.getArgNumber());
  }
  return !seen.emplace(load.getSource().getAsOpaquePointer(), place).second;
}

/// What the passes over a row load, each element of the row once a pass, or
/// once where it is kept, and what scalars of the row do.
DimExpr TrafficCounter::passLoads() {
  bool keepsRow = tactic.contains("keep");
  RowSchedule schedule(region, /*shifts=*/!keepsRow);
  DimExpr bytes = DimExpr::constant(context, 0);
  auto isOperand = [](LoadOp load) {
    return isa<BlockArgument>(stripReshapes(load.getSource()));
  };
  std::set<RowPlace> held;
  for (size_t pass = 0; pass <= schedule.passes(); ++pass) {
    if (!keepsRow) {
      held.clear();
    }
    for (LoadOp load : schedule.loadsOf(pass)) {
      std::optional<RowPlace> place = placeInRow(region, load);
      bool isHeld = place && !held.insert(*place).second;
      if (isOperand(load) && !isHeld) {
        bytes = bytes + loadBytes(load->getParentOp(), load);
      }
    }
  }
  for (Operation *primitive : region.primitives) {
    bool isScalar =
        isa<MapOp>(primitive) && innerExtents(region, primitive).empty();
    primitive->walk([&](LoadOp load) {
      if (isScalar && isOperand(load)) {
        bytes = bytes + loadBytes(primitive, load);
      }
    });
  }
  return bytes;
}

/// The initial tensor and the updates once; where updates go is looked at by
/// every owner of elements.
DimExpr TrafficCounter::scatterLoads() {
  auto scatter = cast<ScatterOp>(region.primitives.front());
  auto owners = tactic.getAs<IntegerAttr>("owners");
  auto ofPlaces =
      neededFor(SmallVector<Value>(yieldOf(scatter).getOperands().drop_back()));
  Value initial = scatter.getInit();
  DimExpr bytes =
      elementBytes(initial) * productOf(context, dimsOf(initial.getType()));
  scatter.walk([&](LoadOp load) {
    int64_t times = owners && ofPlaces.contains(load) ? owners.getInt() : 1;
    bytes = bytes + loadBytes(scatter, load) * times;
  });
  return bytes;
}

GlobalTraffic TrafficCounter::run() {
  DimExpr zero = DimExpr::constant(context, 0);
  GlobalTraffic traffic{zero, zero};
  for (Value result : op.getResults()) {
    traffic.stores =
        traffic.stores +
        elementBytes(result) * productOf(context, dimsOf(result.getType()));
  }
  if (std::optional<double> all = tiledAttentionTraffic(op)) {
    int64_t stores = traffic.stores.getConstant().value_or(0);
    traffic.loads = DimExpr::constant(
        context, std::max<int64_t>(static_cast<int64_t>(*all) - stores, 0));
    return traffic;
  }
  if (name() == "rows.passes") {
    traffic.loads = passLoads();
    return traffic;
  }
  if (region.form == Form::Scatter) {
    traffic.loads = scatterLoads();
    return traffic;
  }
  plane = planeOf();
  for (Operation *primitive : region.primitives) {
    primitive->walk([&](LoadOp load) {
      bool isOperand = isa<BlockArgument>(stripReshapes(load.getSource()));
      if (isOperand && !(name() == "rows.registers" && wasLoaded(load))) {
        traffic.loads = traffic.loads + loadBytes(primitive, load);
      }
    });
  }
  return traffic;
}

GlobalTraffic globalTrafficOf(FusedOp op) { return TrafficCounter(op).run(); }

} // namespace tilewright::families
