//===- LeaveToLibrary.cpp - products that cuBLASLt computes ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/library/LeaveToLibrary.h"
#include "codegen/families/contract/ContractSimt.h"
#include "codegen/families/contract/MmaTactic.h"
#include "codegen/families/contract/MmaTile.h"
#include "codegen/library/ProductCall.h"

using namespace mlir;
using namespace tilewright::tw;
using namespace tilewright::families;

namespace tilewright {

namespace {

/// About how long a product takes, in microseconds.
struct Times {
  double library, kernel;
};

} // namespace

/// Whether factors go through matrix units.
static bool usesMatrixUnits(FusedOp op, const MatrixProduct &product) {
  return !product.a.element.isF32() || allowsTf32(op);
}

/// The library is modelled as a kernel that feeds the GPU's units as well as
/// they can be fed. \returns nothing where it cannot compute the type.
static std::optional<Times> timesOf(FusedOp op, const MatrixProduct &product,
                                    const TargetSpec &target) {
  const GpuSpec &gpu = *target.gpu;
  std::optional<double> plain;
  if (product.a.element.isF32()) {
    plain = simtClocks(product, gpu);
  }
  std::optional<double> library = plain, kernel = plain;
  if (usesMatrixUnits(op, product)) {
    Type element = product.a.element;
    if (mmaRate(gpu, element) == 0) {
      return std::nullopt;
    }
    library = mmaClocks(product, gpu, double(mmaRate(gpu, element)));
    if (!MmaContract().applicable(op, target)) {
      kernel = mmaClocks(product, gpu, mmaSyncRate(gpu, element));
    }
  }
  if (!library) {
    return std::nullopt;
  }
  double clock = double(gpu.clockMHz);
  constexpr double never = 1e30; // a reference kernel
  return Times{*library / clock, kernel ? *kernel / clock : never};
}

static std::string microseconds(double time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", time);
  return text;
}

/// \returns why a region is not left to the library.
static std::optional<Refusal> refuse(FusedOp op, const MatrixProduct &product,
                                     const FusedRegion &region,
                                     const TargetSpec &target, LibraryUse use,
                                     bool strict, std::string &reason) {
  std::optional<Times> times = timesOf(op, product, target);
  if (!times) {
    return Refusal{"TWT125", "the GPU has no matrix unit for the type"};
  }
  // A kernel of one's own is there everywhere, and the model is not that exact.
  constexpr double worthwhile = 0.95;
  if (use == LibraryUse::Auto && times->library > worthwhile * times->kernel) {
    return Refusal{"TWT155", "the generated kernel should take no more time"};
  }
  Refusal refusal;
  if (!library::matchProductCall(region, product, allowsTf32(op), strict,
                                 refusal)) {
    return refusal;
  }
  reason = use == LibraryUse::Always
               ? "all that it can compute is"
               : microseconds(times->library) + " against " +
                     microseconds(times->kernel) + " of the kernel";
  return std::nullopt;
}

Status leaveToLibrary(ModuleOp module, const TargetSpec &target, LibraryUse use,
                      bool strict, DecisionLog &log) {
  if (use == LibraryUse::Never) {
    return Status::ok();
  }
  Status status;
  module.walk([&](FusedOp op) {
    Result<FusedRegion> region = analyseRegion(op);
    if (!region) {
      status = region.status();
      return WalkResult::interrupt();
    }
    if (region->form != Form::Reduce || region->getReduces().size() != 1) {
      return WalkResult::advance();
    }
    Refusal unmatched;
    std::optional<MatrixProduct> product =
        matchMatrixProduct(*region, unmatched);
    if (!product) {
      return WalkResult::advance();
    }
    std::string reason;
    std::optional<Refusal> refusal =
        refuse(op, *product, *region, target, use, strict, reason);
    if (refusal) {
      log.refused(refusal->code, op.getLoc(), "cuBLASLt: " + refusal->text);
    } else {
      op->setAttr(libraryAttr, StringAttr::get(op.getContext(), "cublaslt"));
      log.did("TWT020", op.getLoc(),
              "region " + op.getSymName().str() +
                  ": left to cuBLASLt: " + reason);
    }
    return WalkResult::advance();
  });
  return status;
}

Result<plan::ProductCall> productCallOf(FusedOp op) {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Refusal refusal;
  std::optional<MatrixProduct> product = matchMatrixProduct(*region, refusal);
  std::optional<plan::ProductCall> call;
  if (product) {
    call = library::matchProductCall(*region, *product, allowsTf32(op),
                                     /*strict=*/false, refusal);
  }
  if (!call) {
    return Status(ErrorCode::Internal,
                  "region '" + op.getSymName().str() +
                      "' is no product of a library: " + refusal.text);
  }
  return *call;
}

} // namespace tilewright
