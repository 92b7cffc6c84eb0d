//===- TwkSimt.cpp - what a simt kernel may contain -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/twk/TwkModels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tilewright::twk {

namespace {
/// Bytes of the widest load and store of a thread.
constexpr int64_t mostVectorBytes = 16;

/// \returns an empty string, or why `type` cannot occur in a simt kernel.
std::string refuseType(Type type) {
  if (isScalarType(type) || isa<nvgpu::DeviceAsyncTokenType>(type)) {
    return "";
  }
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.isScalable() || !vector.getElementType().isIntOrFloat()) {
      return "vectors are of a fixed number of integers or floats";
    }
    int64_t bits = vector.getNumElements() * vector.getElementTypeBitWidth();
    return bits <= 8 * mostVectorBytes ? "" : "vectors have at most 16 bytes";
  }
  if (auto memref = dyn_cast<MemRefType>(type)) {
    auto space =
        dyn_cast_or_null<gpu::AddressSpaceAttr>(memref.getMemorySpace());
    bool isKnown = !memref.getMemorySpace() ||
                   (space && space.getValue() == gpu::AddressSpace::Workgroup);
    if (memref.getRank() != 1 || !memref.getLayout().isIdentity()) {
      return "memrefs are one-dimensional";
    }
    if (!isKnown) {
      return "memory is global, or '#gpu.address_space<workgroup>'";
    }
    return isStorageType(memref.getElementType())
               ? ""
               : "the element is not a storage type";
  }
  return "kernels use scalars, short vectors and one-dimensional memrefs";
}

/// \returns true when a simt kernel may contain `op`.
bool isSimtOp(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "arith" || dialect == "math" ||
         isa<ReturnOp, scf::ForOp, scf::IfOp, scf::YieldOp, memref::LoadOp,
             memref::StoreOp, memref::ViewOp, memref::CastOp, memref::AllocaOp,
             memref::AllocOp, memref::AtomicRMWOp, memref::DimOp,
             vector::LoadOp, vector::StoreOp, vector::ExtractOp,
             vector::InsertOp, vector::FromElementsOp,
             vector::ExtractStridedSliceOp,
             memref::ExtractAlignedPointerAsIndexOp, MmaBytesOp,
             vector::BroadcastOp, gpu::ThreadIdOp, gpu::BlockIdOp,
             gpu::BarrierOp, gpu::ShuffleOp, gpu::DynamicSharedMemoryOp,
             nvgpu::MmaSyncOp, nvgpu::LdMatrixOp, nvgpu::DeviceAsyncCopyOp,
             nvgpu::DeviceAsyncCreateGroupOp, nvgpu::DeviceAsyncWaitOp>(op);
}

/// True for arithmetic, which a simt kernel does on scalars alone.
bool isArithmetic(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return (dialect == "arith" && !isa<arith::ConstantOp>(op)) ||
         dialect == "math";
}
} // namespace

LogicalResult MmaBytesOp::verify() {
  auto isInteger = [](Type type) {
    return type.isSignlessInteger(8) || type.isUnsignedInteger(8);
  };
  auto isFloat = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  bool areIntegers = isInteger(getLhs()) && isInteger(getRhs());
  bool areFloats = isFloat(getLhs()) && isFloat(getRhs());
  if (!areIntegers && !areFloats) {
    return emitOpError("multiplies i8 and ui8, or f8E4M3FN and f8E5M2, found ")
           << getLhs() << " and " << getRhs();
  }
  Type sum = cast<VectorType>(getAcc().getType()).getElementType();
  if (areIntegers != sum.isInteger(32)) {
    return emitOpError("accumulates integers in i32 and floats in f32, found ")
           << sum;
  }
  auto hasShape = [](Value value, ArrayRef<int64_t> shape) {
    return cast<VectorType>(value.getType()).getShape() == shape;
  };
  if (!hasShape(getA(), {4, 4}) || !hasShape(getB(), {2, 4}) ||
      !hasShape(getAcc(), {2, 2})) {
    return emitOpError("has fragments of shapes 4x4, 2x4 and 2x2");
  }
  return success();
}

LogicalResult verifySimtOp(Operation *op, Block &entry) {
  if (!isSimtOp(op)) {
    return op->emitOpError(
        "does not belong to the execution model 'simt', which has arith, math, "
        "scf.for, scf.if, memref, loads and stores of vector, and what a "
        "thread executes of gpu and nvgpu");
  }
  for (Type type : op->getResultTypes()) {
    std::string reason = refuseType(type);
    if (!reason.empty()) {
      return op->emitOpError("has a result of type ")
             << type << ", but " << reason;
    }
    if (isArithmetic(op) && isa<VectorType>(type)) {
      return op->emitOpError("computes a vector, but a thread computes with "
                             "scalars: take the vector apart");
    }
  }
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp>(op) &&
      cast<gpu::DimensionAttr>(op->getAttr("dimension")).getValue() !=
          gpu::Dimension::x) {
    return op->emitOpError("asks for a dimension other than x, but blocks and "
                           "grids are one-dimensional");
  }
  return verifyMemory(op, entry);
}

} // namespace tilewright::twk
