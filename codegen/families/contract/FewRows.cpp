//===- FewRows.cpp - products of a few rows -------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/FewRows.h"
#include "codegen/families/contract/MatrixProduct.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/VectorAccess.h"
#include "codegen/families/nest/Nest.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/rows/Team.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// So many rows have sums in the registers of a thread.
constexpr int64_t mostRows = 8;
constexpr int64_t usualThreads = 128, manyThreads = 256;

namespace {

/// The axes of the domain, by what they are to the product.
struct Sides {
  SmallVector<unsigned> few, many;
  int64_t rows = 1;  ///< product of the extents of `few`
  int64_t tasks = 1; ///< … of all other axes; guessed where it is open
};

} // namespace

static std::optional<Sides> sidesOf(const TileDomain &domain,
                                    const MatrixProduct &product) {
  for (auto [few, many] : {std::pair(&product.rows, &product.columns),
                           std::pair(&product.columns, &product.rows)}) {
    Sides sides;
    bool isFew = true;
    for (unsigned axis = 0; axis < domain.parallel.size(); ++axis) {
      const TileAxis &own = domain.parallel[axis];
      if (llvm::is_contained(*few, own.last)) {
        std::optional<int64_t> extent = own.extent.getConstant();
        isFew = isFew && extent;
        sides.rows *= extent.value_or(1);
        sides.few.push_back(axis);
        continue;
      }
      sides.tasks *= guessedExtent(own.extent, axis == 0);
      if (llvm::is_contained(*many, own.last)) {
        sides.many.push_back(axis);
      }
    }
    if (isFew && sides.rows >= 1 && sides.rows <= mostRows &&
        !sides.many.empty()) {
      return sides;
    }
  }
  return std::nullopt;
}

/// Threads along the depth of the factor: \returns columns that share what they
/// load of the rows.
static int64_t columnsTogether(const TileDomain &domain, const Sides &sides,
                               const TargetSpec &target) {
  constexpr int64_t mostSums = 8, warpsToFill = 8;
  std::optional<int64_t> extent =
      domain.parallel[sides.many.back()].extent.getConstant();
  for (int64_t count = 4; extent && count > 1; count /= 2) {
    if (*extent % count == 0 && count * sides.rows <= mostSums &&
        sides.tasks / count >= target.gpu->multiprocessors * warpsToFill) {
      return count;
    }
  }
  return 1;
}

/// Vectors along the columns: \returns the threads side by side that have some,
/// 0 if columns are not a whole number of vectors. Where that gives every
/// multiprocessor a block, they read whole lines of 128 bytes, else at least
/// whole sectors of 32.
static int64_t threadsAcross(const TileAxis &axis, int64_t width,
                             int64_t columns, const TargetSpec &target) {
  constexpr int64_t most = 8, least = 2;
  std::optional<int64_t> extent = axis.extent.getConstant();
  for (int64_t across = most; extent && across >= 1; across /= 2) {
    int64_t blocks = columns / (width * across);
    if (*extent % (width * across) == 0 &&
        (blocks >= target.gpu->multiprocessors || across <= least)) {
      return across;
    }
  }
  return 0;
}

/// \returns nothing where the factor lies neither along the depth nor along the
/// columns, in whole vectors.
static std::optional<DictionaryAttr> chooseFew(const FusedRegion &region,
                                               const Sides &sides,
                                               const TargetSpec &target,
                                               StringRef tactic) {
  TileDomain domain = tileDomainOf(region);
  NestParameters parameters;
  for (unsigned axis : sides.few) {
    parameters.unroll.push_back(
        {axis, *domain.parallel[axis].extent.getConstant()});
  }
  MLIRContext *context = region.op.getContext();
  const TileAxis &depth = domain.reductions.front().back();
  if (int64_t width = foldWidth(region, depth); width > 1) {
    parameters.width = width;
    parameters.innerVector = true;
    int64_t together = columnsTogether(domain, sides, target);
    if (together > 1) {
      parameters.unroll.push_back({sides.many.back(), together});
    }
    constexpr int64_t warpsToFill = 8;
    bool fills =
        sides.tasks / together >= target.gpu->multiprocessors * warpsToFill;
    int64_t team = fills ? GpuSpec::warpSize : usualThreads;
    return Grid::fill(target, usualThreads, team)
        .addTo(parameters.toAttribute(context, tactic));
  }
  unsigned last = domain.parallel.size() - 1;
  int64_t width = vectorWidth(region, domain, last,
                              /*constantsMayStride=*/false);
  if (width <= 1 || sides.many.back() != last) {
    return std::nullopt;
  }
  parameters.across =
      threadsAcross(domain.parallel[last], width, sides.tasks, target);
  if (parameters.across == 0) {
    return std::nullopt;
  }
  parameters.vectorAxis = last;
  parameters.width = width;
  parameters.chunk = width * parameters.across;
  return Grid::fill(target, manyThreads, manyThreads)
      .addTo(parameters.toAttribute(context, tactic));
}

std::optional<Refusal> FewRows::applicable(FusedOp op,
                                           const TargetSpec &target) const {
  if (auto refusal = ReferenceTactic::applicable(op, target)) {
    return refusal;
  }
  FusedRegion region = *analyseRegion(op);
  std::optional<MatrixProduct> product = matchSumOfProducts(region);
  if (!product) {
    return Refusal{"TWT103", "it is no sum of products"};
  }
  TileDomain domain = tileDomainOf(region);
  std::optional<Sides> sides = sidesOf(domain, *product);
  if (!sides) {
    return Refusal{"TWT142", "neither rows nor columns are few"};
  }
  ArrayRef<TileAxis> depth = domain.reductions.front();
  if (depth.empty() ||
      guessedExtent(depth.back().extent, false) < GpuSpec::warpSize) {
    return Refusal{"TWT114", "there is too little to fold for a warp"};
  }
  return chooseFew(region, *sides, target, name())
             ? std::nullopt
             : std::optional(Refusal{
                   "TWT140", "neighbours do not lie in vectors of 16 bytes"});
}

Result<DictionaryAttr> FewRows::choose(FusedOp op,
                                       const TargetSpec &target) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  std::optional<MatrixProduct> product = matchSumOfProducts(*region);
  std::optional<Sides> sides =
      product ? sidesOf(tileDomainOf(*region), *product) : std::nullopt;
  std::optional<DictionaryAttr> chosen =
      sides ? chooseFew(*region, *sides, target, name()) : std::nullopt;
  if (!chosen) {
    return Status(ErrorCode::Internal, "region '" + op.getSymName().str() +
                                           "' is no product of few rows");
  }
  return *chosen;
}

Result<Launch> FewRows::launch(FusedOp op) const {
  Result<Launch> launch = ReferenceTactic::launch(op);
  TW_RETURN_IF_ERROR(launch.status());
  NestParameters parameters = NestParameters::fromAttribute(parametersOf(op));
  int64_t folds = parameters.innerVector ? 1 : parameters.width;
  for (const NestParameters::Unroll &one : parameters.unroll) {
    folds *= one.count;
  }
  launch->shared = teamSharedBytes(Grid::fromAttribute(parametersOf(op)).team,
                                   folds, parameters.across);
  return launch;
}

} // namespace tilewright::families
