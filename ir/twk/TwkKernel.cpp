//===- TwkKernel.cpp - twk.kernel: building, accessors, verifier ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/twk/TwkModels.h"

using namespace mlir;

namespace tilewright::twk {

namespace {
/// Arguments after the buffers and sizes: begin, end, worker, workspace,
/// status; on a GPU blocks, workspace, status.
constexpr unsigned numFixedSimd = 5, numFixedSimt = 3;

/// Threads that a block can have.
constexpr int64_t mostThreads = 1024;

bool isFlatMemRef(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getRank() == 1;
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
  bool isSimt = model == ExecutionModel::simt;
  unsigned numFixed = isSimt ? numFixedSimt : numFixedSimd;
  for (unsigned i = 0; i < numSizes + numFixed - 2; ++i) {
    entry->addArgument(index, state.location);
  }
  entry->addArgument(
      MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()),
      state.location);
  entry->addArgument(MemRefType::get({1}, builder.getI32Type()),
                     state.location);
}

unsigned KernelOp::getNumFixedArguments() {
  return isSimt() ? numFixedSimt : numFixedSimd;
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
  return getEntry().getNumArguments() - getNumBuffers() -
         getNumFixedArguments();
}

ArrayRef<BlockArgument> KernelOp::getBuffers() {
  return getEntry().getArguments().take_front(getNumBuffers());
}

ArrayRef<BlockArgument> KernelOp::getSizes() {
  return getEntry()
      .getArguments()
      .drop_back(getNumFixedArguments())
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
BlockArgument KernelOp::getBlocks() {
  return getEntry().getArguments().take_back(3)[0];
}
BlockArgument KernelOp::getWorkspace() {
  return getEntry().getArguments().take_back(2)[0];
}
BlockArgument KernelOp::getStatus() { return getEntry().getArguments().back(); }

void KernelOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  if (region.empty() || region.getNumArguments() < getNumFixedArguments()) {
    return;
  }
  for (auto [i, buffer] : llvm::enumerate(getBuffers())) {
    setName(buffer, "b" + std::to_string(i));
  }
  for (auto [i, size] : llvm::enumerate(getSizes())) {
    setName(size, "n" + std::to_string(i));
  }
  if (isSimt()) {
    setName(getBlocks(), "blocks");
  } else {
    setName(getBegin(), "begin");
    setName(getEnd(), "end");
    setName(getWorker(), "worker");
  }
  setName(getWorkspace(), "workspace");
  setName(getStatus(), "status");
}

LogicalResult KernelOp::verify() {
  unsigned numFixed = getNumFixedArguments();
  if (getBody().empty() || getEntry().getNumArguments() < numFixed) {
    return emitOpError("needs the arguments tasks, ")
           << (isSimt() ? "" : "worker, ") << "workspace and status";
  }
  if (isSimt() != getThreads().has_value() ||
      (isSimt() && (*getThreads() < 1 || *getThreads() > mostThreads))) {
    return emitOpError("has between 1 and ")
           << mostThreads << " 'threads' if its model is 'simt', and none else";
  }
  unsigned numBuffers = getNumBuffers();
  unsigned numArguments = getEntry().getNumArguments();
  if (numBuffers + numFixed > numArguments) {
    return emitOpError("needs tasks between the buffers and the workspace");
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
    LogicalResult verified =
        isSimt() ? verifySimtOp(op, getEntry()) : verifySimdOp(op, getEntry());
    return failed(verified) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace tilewright::twk
