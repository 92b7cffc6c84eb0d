//===- LoneKernels.h - element-wise kernels that joined nothing -*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "passes/DecisionLog.h"

namespace tilewright {

/// Records, for each region that holds maps alone and stands next to a
/// contraction or reduction, that it is a kernel of its own, beside which one,
/// and the codes under which passes refused to do better with its nodes.
/// `flops` tells arithmetic from movement. `module` has its regions.
void recordLoneKernels(mlir::ModuleOp module, DecisionLog &log);

} // namespace tilewright
