//===- PhasePasses.cpp - phases by name for tilewright-opt ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// `--tw-normalize`, `--tw-layout`, `--tw-fuse` and `--tw-tile` run a phase as
// the compiler does, `--tw-build-kernels` replaces the module by the kernels of
// its regions.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/KernelLibrary.h"
#include "codegen/families/Tactics.h"
#include "mlir/Pass/Pass.h"
#include "tools/driver/Pipeline.h"
#include "tools/driver/Registration.h"

using namespace mlir;

namespace tilewright {

namespace {

/// What the passes of this file share: the target, the reference switch.
template <typename Derived>
class PhasePass : public PassWrapper<Derived, OperationPass<ModuleOp>> {
public:
  PhasePass() = default;
  PhasePass(const PhasePass &other)
      : PassWrapper<Derived, OperationPass<ModuleOp>>(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registerDialects(registry);
  }

protected:
  /// The target that the option names; null, with an error, if there is none.
  const TargetSpec *target() {
    const TargetSpec *found = findTarget(level);
    if (!found) {
      this->getOperation().emitError("there is no target '") << level << "'";
    }
    return found;
  }

  void runAs(Phase phase) {
    DecisionLog log;
    PipelineOptions options;
    options.target = target();
    options.tactics = &familyTactics();
    options.log = &log;
    options.reference = reference;
    if (!options.target) {
      return this->signalPassFailure();
    }
    if (Status status = runPhase(phase, this->getOperation(), options);
        !status) {
      this->getOperation().emitError(status.message());
      this->signalPassFailure();
    }
  }

  Pass::Option<std::string> level{
      *this, "level", llvm::cl::desc("CPU level, or GPU, to compile for"),
      llvm::cl::init("avx2")};
  Pass::Option<bool> reference{*this, "reference",
                               llvm::cl::desc("As a reference compile does"),
                               llvm::cl::init(false)};
};

class NormalizePhase : public PhasePass<NormalizePhase> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NormalizePhase)
  StringRef getArgument() const final { return "tw-normalize"; }
  StringRef getDescription() const final {
    return "The normalize phase, without evaluating constants";
  }
  void runOnOperation() override { runAs(Phase::Normalize); }
};

class LayoutPhase : public PhasePass<LayoutPhase> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LayoutPhase)
  StringRef getArgument() const final { return "tw-layout"; }
  StringRef getDescription() const final { return "The layout phase"; }
  void runOnOperation() override { runAs(Phase::Layout); }
};

class FusePhase : public PhasePass<FusePhase> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusePhase)
  StringRef getArgument() const final { return "tw-fuse"; }
  StringRef getDescription() const final { return "The fuse phase"; }
  void runOnOperation() override { runAs(Phase::Fuse); }
};

class TilePhase : public PhasePass<TilePhase> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TilePhase)
  StringRef getArgument() const final { return "tw-tile"; }
  StringRef getDescription() const final {
    return "The tile phase, without packing constants";
  }
  void runOnOperation() override { runAs(Phase::Tile); }
};

class BuildKernels : public PhasePass<BuildKernels> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BuildKernels)
  StringRef getArgument() const final { return "tw-build-kernels"; }
  StringRef getDescription() const final {
    return "Replace the module by the kernels of its tiled regions";
  }
  void runOnOperation() override {
    const TargetSpec *spec = target();
    if (!spec) {
      return signalPassFailure();
    }
    ModuleOp module = getOperation();
    OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
    KernelLibrary library(familyTactics(), *spec);
    SmallVector<tw::FusedOp> regions;
    module.walk([&](tw::FusedOp region) { regions.push_back(region); });
    for (tw::FusedOp region : regions) {
      if (!familyTactics().find(region)) {
        region.emitOpError("has no tactic; run --tw-tile first");
        return signalPassFailure();
      }
      Result<std::string> kernel = library.add(region, *kernels);
      if (!kernel) {
        region.emitOpError(kernel.status().message());
        return signalPassFailure();
      }
    }
    module.getBodyRegion().takeBody(kernels->getBodyRegion());
  }
};

} // namespace

void registerPhasePasses() {
  PassRegistration<NormalizePhase>();
  PassRegistration<LayoutPhase>();
  PassRegistration<FusePhase>();
  PassRegistration<TilePhase>();
  PassRegistration<BuildKernels>();
}

} // namespace tilewright
