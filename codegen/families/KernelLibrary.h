//===- KernelLibrary.h - the distinct kernels of a compile ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "passes/tile/Tactic.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace tilewright {

/// Names the kernels of regions, and builds each distinct one once. Regions
/// share a kernel when they are the same but for names and locations.
class KernelLibrary {
public:
  KernelLibrary(const TacticRegistry &registry, const TargetSpec &target)
      : registry(registry), target(target) {}

  /// \returns the name of the region's kernel:
  /// `tw_<family>_<root>_<types>_<tile>_<epilogue>_<hash>__<level>`.
  /// \pre the region has its attribute `tactic`.
  std::string nameOf(tw::FusedOp region) const;

  /// Builds the region's kernel into `kernels` unless it is there already.
  /// \returns its name.
  Result<std::string> add(tw::FusedOp region, mlir::ModuleOp kernels);

private:
  const TacticRegistry &registry;
  const TargetSpec &target;
  llvm::StringMap<bool> built;
};

} // namespace tilewright
