//===- TwOps.h - operations of the graph dialect ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TensorTypes.h"
#include "ir/TwDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/TwInterfaces.h.inc"
#define GET_OP_CLASSES
#include "ir/TwOps.h.inc"

namespace tilewright::tw {

/// True for the operations whose region is a scalar body: map, reduce, scan
/// and scatter.
bool isPrimitive(mlir::Operation *op);

/// \returns the iteration domain of a primitive: the result's dims, then (for
/// a reduce) the reduction's; for a scatter the updates' dims.
llvm::SmallVector<DimExpr> domainOf(mlir::Operation *primitive);

/// \returns the yield that ends a primitive's body or a region's block.
YieldOp yieldOf(mlir::Operation *op);

} // namespace tilewright::tw
