//===- KernelAbi.cpp - twk.kernel to a function of the C ABI --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Two functions per kernel, because LLVM takes "these pointers do not overlap"
// from the arguments of a function only, and the runtime passes the pointers in
// an array.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tilewright {

namespace {
/// Fields of KernelArgs, in their order. All of them are pointers.
enum KernelArgsField { Buffers, Sizes, Workspace, StatusWord };

/// Loads element `index` of the array of `type` at `base`.
Value loadElement(OpBuilder &builder, Location loc, Type type, Value base,
                  int32_t index) {
  Value address = LLVM::GEPOp::create(builder, loc, base.getType(), type, base,
                                      ArrayRef<LLVM::GEPArg>{index});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

/// \returns the memref that `argument` stands for, from a bare pointer. Its
/// size is unknown and never read: the verifier refuses memref.dim.
Value memrefFromPointer(OpBuilder &builder, const LLVMTypeConverter &converter,
                        Location loc, MemRefType type, Value pointer) {
  auto descriptor =
      MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, pointer);
  descriptor.setAlignedPtr(builder, loc, pointer);
  descriptor.setConstantOffset(builder, loc, 0);
  descriptor.setConstantStride(builder, loc, 0, 1);
  Value value = descriptor;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// Makes the internal function and moves the kernel's body into it.
LLVM::LLVMFuncOp makeBody(OpBuilder &builder, twk::KernelOp kernel,
                          const LLVMTypeConverter &converter) {
  Location loc = kernel.getLoc();
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getEntry().getArguments()) {
    types.push_back(isa<MemRefType>(argument.getType()) ? Type(pointer)
                                                        : builder.getI64Type());
  }
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto body = LLVM::LLVMFuncOp::create(builder, loc,
                                       (kernel.getSymName() + ".body").str(),
                                       type, LLVM::Linkage::Internal);
  body.getBody().takeBody(kernel.getBody());

  unsigned numBuffers = 0;
  Block &entry = body.getBody().front();
  builder.setInsertionPointToStart(&entry);
  for (BlockArgument argument : entry.getArguments()) {
    Type oldType = argument.getType();
    bool isBuffer =
        isa<MemRefType>(oldType) && argument.getArgNumber() == numBuffers;
    numBuffers += isBuffer;
    Value replacement;
    argument.setType(types[argument.getArgNumber()]);
    if (auto memref = dyn_cast<MemRefType>(oldType)) {
      // The workspace and the status word overlap nothing in any case.
      if (!isBuffer || !kernel.getMayAlias()) {
        body.setArgAttr(argument.getArgNumber(),
                        LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
      }
      replacement =
          memrefFromPointer(builder, converter, loc, memref, argument);
    } else {
      replacement = UnrealizedConversionCastOp::create(builder, loc, oldType,
                                                       Value(argument))
                        .getResult(0);
    }
    argument.replaceUsesWithIf(replacement, [&](OpOperand &use) {
      // The casts and descriptors made above keep the argument itself.
      return use.getOwner()->getBlock() != &entry ||
             !use.getOwner()->isBeforeInBlock(&*builder.getInsertionPoint());
    });
  }
  body.walk([](twk::ReturnOp end) {
    OpBuilder atEnd(end);
    LLVM::ReturnOp::create(atEnd, end.getLoc(), ValueRange());
    end.erase();
  });
  return body;
}

/// Sets the control word of the vector unit. \returns memory that holds what it
/// was.
Value setControlWord(OpBuilder &builder, Location loc, int32_t bits) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i32 = builder.getI32Type();
  Value one = LLVM::ConstantOp::create(builder, loc, i32, 1);
  auto slot = [&] {
    return LLVM::AllocaOp::create(builder, loc, pointer, i32, one);
  };
  Value before = slot(), now = slot();
  auto call = [&](StringRef name, Value memory) {
    LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr(name),
                                  memory);
  };
  call("llvm.x86.sse.stmxcsr", before);
  Value word = LLVM::ConstantOp::create(builder, loc, i32, bits);
  LLVM::StoreOp::create(builder, loc, word, now);
  call("llvm.x86.sse.ldmxcsr", now);
  return before;
}

/// The control word while a kernel runs: all exceptions masked, rounding to
/// nearest; denormals count as zero, as operands and as results, unless they
/// are kept (Intel SDM, volume 1, 10.2.3).
int32_t controlWord(bool keepDenormals) {
  constexpr int32_t masks = 0x1f80, flushToZero = 0x8000,
                    denormalsAreZero = 0x0040;
  return keepDenormals ? masks : masks | flushToZero | denormalsAreZero;
}

/// Makes the function that the runtime calls.
void makeEntry(OpBuilder &builder, Location loc, StringRef name,
               unsigned numBuffers, unsigned numSizes, LLVM::LLVMFuncOp body,
               bool keepDenormals, bool streams) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, i64, i64, builder.getI32Type()});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value args = entry->getArgument(0);
  Value buffers = loadElement(builder, loc, pointer, args, Buffers);
  Value sizes = loadElement(builder, loc, pointer, args, Sizes);
  SmallVector<Value> operands;
  for (unsigned i = 0; i < numBuffers; ++i) {
    operands.push_back(loadElement(builder, loc, pointer, buffers, i));
  }
  for (unsigned i = 0; i < numSizes; ++i) {
    operands.push_back(loadElement(builder, loc, i64, sizes, i));
  }
  operands.push_back(entry->getArgument(1));
  operands.push_back(entry->getArgument(2));
  operands.push_back(
      LLVM::SExtOp::create(builder, loc, i64, entry->getArgument(3)));
  operands.push_back(loadElement(builder, loc, pointer, args, Workspace));
  operands.push_back(loadElement(builder, loc, pointer, args, StatusWord));
  Value before = setControlWord(builder, loc, controlWord(keepDenormals));
  LLVM::CallOp::create(builder, loc, body, operands);
  if (streams) {
    // Non-temporal stores are not ordered by what tells other threads that
    // this one has finished.
    LLVM::CallIntrinsicOp::create(builder, loc,
                                  builder.getStringAttr("llvm.x86.sse.sfence"),
                                  ValueRange());
  }
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.x86.sse.ldmxcsr"), before);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}
} // namespace

void lowerKernelAbi(twk::KernelOp kernel, bool keepDenormals) {
  OpBuilder builder(kernel);
  LLVMTypeConverter converter(kernel.getContext());
  std::string name = kernel.getSymName().str();
  unsigned numBuffers = kernel.getNumBuffers();
  unsigned numSizes = kernel.getNumSizes();
  bool streams = false;
  kernel.walk(
      [&](vector::StoreOp store) { streams |= store.getNontemporal(); });
  LLVM::LLVMFuncOp body = makeBody(builder, kernel, converter);
  builder.setInsertionPointAfter(body);
  makeEntry(builder, kernel.getLoc(), name, numBuffers, numSizes, body,
            keepDenormals, streams);
  kernel.erase();
}

} // namespace tilewright
