//===- NestSimt.cpp - nests whose threads take vectors --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/NestSimt.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/Guards.h"
#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/nest/Nest.h"
#include "codegen/families/nest/NestSchedule.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

constexpr int64_t usualThreads = 128;

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

static int64_t widthOfMaps(const FusedRegion &region,
                           const TileDomain &domain) {
  return domain.parallel.empty()
             ? 1
             : vectorWidth(region, domain, domain.parallel.size() - 1,
                           /*constantsMayStride=*/false);
}

std::optional<Refusal> VectorMaps::applicable(FusedOp op,
                                              const TargetSpec &target) const {
  if (auto refusal = ReferenceTactic::applicable(op, target)) {
    return refusal;
  }
  FusedRegion region = *analyseRegion(op);
  return widthOfMaps(region, tileDomainOf(region)) > 1
             ? std::nullopt
             : std::optional(Refusal{
                   "TWT140", "neighbours do not lie in vectors of 16 bytes"});
}

Result<DictionaryAttr> VectorMaps::choose(FusedOp op,
                                          const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  TileDomain domain = tileDomainOf(*region);
  NestParameters parameters;
  parameters.vectorAxis = static_cast<int64_t>(domain.parallel.size()) - 1;
  parameters.width = parameters.chunk = widthOfMaps(*region, domain);
  return Grid::fill(target, usualThreads)
      .addTo(parameters.toAttribute(op.getContext(), name()));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Whether some index of a load moves along `axis` and along the reduction.
static bool slides(ReduceOp reduce, const TileAxis &axis) {
  Block &body = reduce.getBody().front();
  BlockArgument own = body.getArgument(axis.last);
  auto folded = body.getArguments().drop_front(reduce.getParallelRank());
  for (LoadOp load : body.getOps<LoadOp>()) {
    for (Value index : load.getIndices()) {
      if (dependsOn(index, own) &&
          llvm::any_of(folded, [&](BlockArgument argument) {
            return dependsOn(index, argument);
          })) {
        return true;
      }
    }
  }
  return false;
}

static int64_t steps(const TileDomain &domain) {
  int64_t count = 1;
  for (const TileAxis &axis : domain.reductions.front()) {
    count *= guessedExtent(axis.extent, false);
  }
  return count;
}

std::optional<Refusal>
SlidingWindow::applicable(FusedOp op, const TargetSpec &target) const {
  if (auto refusal = ReferenceTactic::applicable(op, target)) {
    return refusal;
  }
  FusedRegion region = *analyseRegion(op);
  if (region.form != Form::Reduce || region.getReduces().size() != 1 ||
      region.getReduce().isArg()) {
    return Refusal{"TWT112", "a position is not folded across threads"};
  }
  TileDomain domain = tileDomainOf(region);
  // What a block should fold is no window, nor are parts of a reduction.
  constexpr int64_t tooLong = 1024;
  if (steps(domain) >= tooLong ||
      llvm::none_of(domain.parallel, [&](const TileAxis &axis) {
        return slides(region.getReduce(), axis);
      })) {
    return Refusal{"TWT141", "no window slides over an operand"};
  }
  return std::nullopt;
}

/// The axis along which a thread takes several positions; one whose extent is a
/// multiple of them.
static std::optional<NestParameters::Unroll>
chooseRun(const FusedRegion &region, const TileDomain &domain,
          int64_t mostCopies) {
  // What lies side by side belongs to threads or lanes side by side.
  for (size_t axis = domain.parallel.size(); axis-- > 0;) {
    std::optional<int64_t> extent = domain.parallel[axis].extent.getConstant();
    if (axis + 1 == domain.parallel.size() || !extent ||
        !slides(region.getReduce(), domain.parallel[axis])) {
      continue;
    }
    for (int64_t count = mostCopies; count > 1; --count) {
      if (*extent % count == 0) {
        return NestParameters::Unroll{static_cast<unsigned>(axis), count};
      }
    }
  }
  return std::nullopt;
}

Result<DictionaryAttr> SlidingWindow::choose(FusedOp op,
                                             const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  TileDomain domain = tileDomainOf(*region);
  unsigned last = domain.parallel.size() - 1;
  int64_t results = 1;
  for (const TileAxis &axis : domain.parallel) {
    results *= guessedExtent(axis.extent, &axis == domain.parallel.data());
  }
  NestParameters parameters;
  int64_t width =
      vectorWidth(*region, domain, last, /*constantsMayStride=*/true);
  if (width > 1) {
    parameters.vectorAxis = last;
    parameters.width = parameters.chunk = width;
  }
  // Positions that share loads, as long as there are threads for every
  // multiprocessor.
  constexpr int64_t mostPositions = 8, mostSteps = 64;
  int64_t threads = results / width;
  int64_t perThread =
      threads / (target.gpu->multiprocessors * usualThreads * 2);
  int64_t most = std::clamp<int64_t>(perThread, 1, mostPositions);
  if (steps(domain) <= mostSteps) {
    if (auto run = chooseRun(*region, domain, most)) {
      parameters.unroll.push_back(*run);
    }
  }
  return Grid::fill(target, usualThreads)
      .addTo(parameters.toAttribute(op.getContext(), name()));
}

} // namespace tilewright::families
