//===- TwkSimd.cpp - what a simd kernel may contain -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/twk/TwkModels.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/VectorInterfaces.h"

using namespace mlir;

namespace tilewright::twk {

/// Integers of two and four bits exist between a load and what widens them.
bool isScalarType(Type type) {
  return type.isIndex() || type.isSignlessInteger(1) ||
         type.isSignlessInteger(2) || type.isSignlessInteger(4) ||
         isStorageType(type);
}

namespace {
/// \returns an empty string, or why `type` cannot occur in a simd kernel.
std::string refuseSimdType(Type type) {
  if (isScalarType(type)) {
    return "";
  }
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.isScalable()) {
      return "vectors have a fixed length";
    }
    return isScalarType(vector.getElementType())
               ? ""
               : "the element type is not one that kernels compute with";
  }
  if (auto memref = dyn_cast<MemRefType>(type)) {
    if (memref.getRank() != 1) {
      return "memrefs are one-dimensional";
    }
    Type element = memref.getElementType();
    if (auto vector = dyn_cast<VectorType>(element)) {
      element = vector.getElementType();
    }
    return isStorageType(element) ? "" : "the element is not a storage type";
  }
  return "kernels use scalars, vectors and one-dimensional memrefs";
}

/// \returns true when a simd kernel may contain `op`.
bool isSimdOp(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return isa<ReturnOp>(op) || dialect == "arith" || dialect == "math" ||
         dialect == "scf" || dialect == "vector" || dialect == "memref" ||
         dialect == "index" || dialect == "ub";
}
} // namespace

LogicalResult verifyMemory(Operation *op, Block &entry) {
  if (isa<memref::AllocOp, memref::DeallocOp, memref::GlobalOp,
          memref::GetGlobalOp, memref::ReallocOp>(op)) {
    return op->emitOpError(
        "is not allowed: a kernel allocates nothing and has no "
        "globals, use the workspace");
  }
  if (auto alloca = dyn_cast<memref::AllocaOp>(op)) {
    if (alloca->getBlock() != &entry || !alloca.getType().hasStaticShape()) {
      return op->emitOpError("must lie in the kernel's entry block and have a "
                             "static size");
    }
  }
  if (isa<memref::DimOp>(op)) {
    return op->emitOpError(
        "is not allowed: a buffer does not know its size, pass it "
        "in 'sizes'");
  }
  return success();
}

LogicalResult verifySimdOp(Operation *op, Block &entry) {
  if (!isSimdOp(op)) {
    return op->emitOpError(
        "does not belong to the execution model 'simd', which "
        "has arith, math, scf, vector, memref, index and ub");
  }
  for (Type type : op->getResultTypes()) {
    std::string reason = refuseSimdType(type);
    if (!reason.empty()) {
      return op->emitOpError("has a result of type ")
             << type << ", but " << reason;
    }
  }
  if (failed(verifyMemory(op, entry))) {
    return failure();
  }
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op)) {
    if (transfer.hasOutOfBoundsDim()) {
      return op->emitOpError(
          "must be in_bounds: a buffer does not know its size, use "
          "a mask");
    }
  }
  return success();
}

} // namespace tilewright::twk
