//===- ScatterSimt.cpp - scatters by owners of elements -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/sequential/ScatterSimt.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/sequential/ScatterOwners.h"
#include "ir/TensorTypes.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// How many owners there are for each place on shared axes, a power of two.
static int64_t ownersOf(DictionaryAttr parameters) {
  return parameters.getAs<IntegerAttr>("owners").getInt();
}

/// Whether updates go to one place on scattered axes, wherever they are on
/// shared ones.
static bool goTogether(const ScatterForm &form) {
  Block &body = form.op.getBody().front();
  OperandRange yielded = yieldOf(form.op).getOperands();
  return llvm::none_of(scatteredAxes(form), [&](unsigned axis) {
    return llvm::any_of(form.sharedBy, [&](std::optional<unsigned> own) {
      return own && dependsOn(yielded[axis], body.getArgument(*own));
    });
  });
}

Result<DictionaryAttr> OwnedScatter::choose(FusedOp op,
                                            const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  constexpr int64_t threads = 128, schedulers = 4;
  ScatterForm form = scatterFormOf(*region);
  int64_t places = 1, elements = 1, updates = 1;
  for (auto [axis, dim] : llvm::enumerate(dimsOf(form.op.getType()))) {
    (form.sharedBy[axis] ? places : elements) *= guessedExtent(dim, axis == 0);
  }
  for (unsigned coordinate : form.walked) {
    updates *= guessedExtent(form.op.getDomain()[coordinate], coordinate == 0);
  }
  // Each owner walks all updates of its place: a warp for every scheduler is
  // enough, unless elements to copy are more.
  const GpuSpec &gpu = *target.gpu;
  int64_t busy = gpu.multiprocessors * schedulers * GpuSpec::warpSize;
  int64_t most = int64_t(gpu.multiprocessors) * gpu.threadsPerMultiprocessor;
  int64_t owners = 1;
  auto isWorthMore = [&] {
    return places * owners < busy ||
           (places * owners < most && elements / owners > updates);
  };
  while (owners < elements && isWorthMore()) {
    owners *= 2;
  }
  Builder b(op.getContext());
  NamedAttrList entries;
  entries.set("name", b.getStringAttr(name()));
  entries.set("owners", b.getI64IntegerAttr(owners));
  return Grid::fill(target, threads, goTogether(form) ? threads : 1)
      .addTo(entries.getDictionary(op.getContext()));
}

Result<Launch> OwnedScatter::launch(FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  ScatterForm form = scatterFormOf(*region);
  Launch launch;
  launch.sizes = sizesOf(op);
  launch.workspaceBytes = DimExpr::constant(op.getContext(), 0);
  launch.tasks = DimExpr::constant(op.getContext(), ownersOf(parametersOf(op)));
  for (auto [axis, dim] : llvm::enumerate(dimsOf(form.op.getType()))) {
    launch.tasks = form.sharedBy[axis] ? launch.tasks * dim : launch.tasks;
  }
  Grid grid = Grid::fromAttribute(parametersOf(op));
  if (grid.team > 1) {
    launch.tasks = launch.tasks.ceilDiv(grid.team);
    launch.shared = placesBytes(grid.team);
  }
  return overTeams(launch, grid);
}

Result<twk::KernelOp> OwnedScatter::build(FusedOp op, const TargetSpec &target,
                                          StringRef kernelName,
                                          OpBuilder &builder) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  KernelFrame frame(*region, target, kernelName, builder);
  return frame.finish(OwnerEmitter(frame, ownersOf(parametersOf(op))).run());
}

} // namespace tilewright::families
