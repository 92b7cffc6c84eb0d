//===- TwkKernel.cpp - twk.kernel: building, accessors, verifier ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/twk/TwkOps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/VectorInterfaces.h"

using namespace mlir;

namespace tilewright::twk {

namespace {
/// Arguments after the buffers and sizes: begin, end, worker, workspace,
/// status.
constexpr unsigned numFixedArguments = 5;

/// \returns true for the scalars that a body computes with. Integers of two
/// and four bits exist between a load and what widens them.
bool isScalarType(Type type) {
  return type.isIndex() || type.isSignlessInteger(1) ||
         type.isSignlessInteger(2) || type.isSignlessInteger(4) ||
         isStorageType(type);
}

bool isFlatMemRef(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getRank() == 1;
}

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
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op)) {
    if (transfer.hasOutOfBoundsDim()) {
      return op->emitOpError(
          "must be in_bounds: a buffer does not know its size, use "
          "a mask");
    }
  }
  return success();
}
} // namespace

bool isStorageType(Type type) {
  return type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
         type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     ExecutionModel model, ArrayRef<Type> bufferElements,
                     unsigned numSizes) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getModelAttrName(state.name),
                     ExecutionModelAttr::get(builder.getContext(), model));
  Region *body = state.addRegion();
  Block *entry = new Block();
  body->push_back(entry);
  Type index = builder.getIndexType();
  for (Type element : bufferElements) {
    entry->addArgument(MemRefType::get({ShapedType::kDynamic}, element),
                       state.location);
  }
  for (unsigned i = 0; i < numSizes + 3; ++i) {
    entry->addArgument(index, state.location);
  }
  entry->addArgument(
      MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()),
      state.location);
  entry->addArgument(MemRefType::get({1}, builder.getI32Type()),
                     state.location);
}

unsigned KernelOp::getNumBuffers() {
  unsigned count = 0;
  for (BlockArgument argument : getEntry().getArguments()) {
    if (!isa<MemRefType>(argument.getType())) {
      break;
    }
    ++count;
  }
  return count;
}

unsigned KernelOp::getNumSizes() {
  return getEntry().getNumArguments() - getNumBuffers() - numFixedArguments;
}

ArrayRef<BlockArgument> KernelOp::getBuffers() {
  return getEntry().getArguments().take_front(getNumBuffers());
}

ArrayRef<BlockArgument> KernelOp::getSizes() {
  return getEntry()
      .getArguments()
      .drop_back(numFixedArguments)
      .drop_front(getNumBuffers());
}

BlockArgument KernelOp::getBuffer(unsigned index) {
  return getBuffers()[index];
}
BlockArgument KernelOp::getSize(unsigned index) { return getSizes()[index]; }
BlockArgument KernelOp::getBegin() {
  return getEntry().getArguments().take_back(5)[0];
}
BlockArgument KernelOp::getEnd() {
  return getEntry().getArguments().take_back(4)[0];
}
BlockArgument KernelOp::getWorker() {
  return getEntry().getArguments().take_back(3)[0];
}
BlockArgument KernelOp::getWorkspace() {
  return getEntry().getArguments().take_back(2)[0];
}
BlockArgument KernelOp::getStatus() { return getEntry().getArguments().back(); }

void KernelOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  if (region.empty() || region.getNumArguments() < numFixedArguments) {
    return;
  }
  for (auto [i, buffer] : llvm::enumerate(getBuffers())) {
    setName(buffer, "b" + std::to_string(i));
  }
  for (auto [i, size] : llvm::enumerate(getSizes())) {
    setName(size, "n" + std::to_string(i));
  }
  setName(getBegin(), "begin");
  setName(getEnd(), "end");
  setName(getWorker(), "worker");
  setName(getWorkspace(), "workspace");
  setName(getStatus(), "status");
}

LogicalResult KernelOp::verify() {
  if (getBody().empty() || getEntry().getNumArguments() < numFixedArguments) {
    return emitOpError(
        "needs the arguments tasks, worker, workspace and status");
  }
  unsigned numBuffers = getNumBuffers();
  unsigned numArguments = getEntry().getNumArguments();
  if (numBuffers + numFixedArguments > numArguments) {
    return emitOpError(
        "needs begin, end and worker between the buffers and the "
        "workspace");
  }
  for (BlockArgument buffer : getBuffers()) {
    auto type = cast<MemRefType>(buffer.getType());
    if (!isFlatMemRef(type) || !type.getLayout().isIdentity() ||
        type.getMemorySpace() || !isStorageType(type.getElementType())) {
      return emitOpError("buffer #")
             << buffer.getArgNumber() << " has type " << type
             << "; expected a one-dimensional memref of i8, i16, i32, i64, "
                "f16, bf16, "
                "f32 or f64";
    }
  }
  for (BlockArgument argument :
       getEntry().getArguments().drop_back(2).drop_front(numBuffers)) {
    if (!argument.getType().isIndex()) {
      return emitOpError("sizes, tasks and worker are of type index, found ")
             << argument.getType();
    }
  }
  Builder builder(getContext());
  auto workspace = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  auto status = MemRefType::get({1}, builder.getI32Type());
  if (getWorkspace().getType() != workspace ||
      getStatus().getType() != status) {
    return emitOpError("the last two arguments are workspace: ")
           << workspace << " and status: " << status;
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (!isa<ReturnOp>(getEntry().back())) {
    return emitOpError("must end with 'twk.return'");
  }
  WalkResult result = getBody().walk([&](Operation *op) {
    return failed(verifySimdOp(op, getEntry())) ? WalkResult::interrupt()
                                                : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace tilewright::twk
