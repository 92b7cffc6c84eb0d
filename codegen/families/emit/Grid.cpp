//===- Grid.cpp - tasks over the threads of a GPU -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/Grid.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// What all threads of a launch together may have as scratch memory, unless
/// one block alone needs more.
constexpr int64_t mostWorkspaceBytes = 64 << 20;

Grid Grid::fill(const TargetSpec &target, int64_t threads, int64_t team) {
  const GpuSpec &gpu = *target.gpu;
  int64_t resident = std::min<int64_t>(gpu.threadsPerMultiprocessor / threads,
                                       gpu.blocksPerMultiprocessor);
  return {threads, gpu.multiprocessors * std::max<int64_t>(resident, 1), team};
}

Grid Grid::fromAttribute(DictionaryAttr attribute) {
  Grid grid;
  auto read = [&](StringRef name, int64_t &value) {
    if (auto number = attribute.getAs<IntegerAttr>(name)) {
      value = number.getInt();
    }
  };
  read("threads", grid.threads);
  read("blocks", grid.blocks);
  read("team", grid.team);
  return grid;
}

DictionaryAttr Grid::addTo(DictionaryAttr attribute) const {
  Builder b(attribute.getContext());
  NamedAttrList entries(attribute);
  entries.set("threads", b.getI64IntegerAttr(threads));
  entries.set("blocks", b.getI64IntegerAttr(blocks));
  if (team > 1) {
    entries.set("team", b.getI64IntegerAttr(team));
  }
  return entries.getDictionary(attribute.getContext());
}

Launch overTeams(Launch launch, const Grid &grid) {
  MLIRContext *context = launch.tasks.getContext();
  auto constant = [&](int64_t value) {
    return DimExpr::constant(context, value);
  };
  launch.threads = grid.threads;
  int64_t teams = grid.threads / grid.team;
  launch.tasks = launch.tasks.ceilDiv(teams).min(constant(grid.blocks));
  if (!launch.workspaceBytes.isConstant(0)) {
    DimExpr ofBlock = launch.workspaceBytes * teams;
    DimExpr fits = constant(mostWorkspaceBytes).floorDiv(ofBlock);
    launch.tasks = launch.tasks.min(fits.max(constant(1)));
    launch.workspaceBytes = ofBlock * launch.tasks;
  }
  return launch;
}

} // namespace tilewright::families
