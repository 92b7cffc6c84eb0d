//===- PrintCuda.cpp - kernels as CUDA C++ --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/PrintCuda.h"
#include "codegen/cuda/DeviceFunctions.h"
#include "codegen/cuda/KernelPrinter.h"
#include "ir/Locations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilewright {

namespace cuda {

//===----------------------------------------------------------------------===//
// Names and lines
//===----------------------------------------------------------------------===//

void KernelPrinter::line(const Twine &text) {
  body += std::string(2 * depth, ' ') + text.str() + "\n";
}

void KernelPrinter::fail(Operation *op) {
  if (status) {
    status = Status(ErrorCode::Internal,
                    "kernel '" + kernel.getSymName().str() + "': '" +
                        op->getName().getStringRef().str() +
                        "' has no counterpart in CUDA C++");
  }
}

std::string KernelPrinter::fresh(StringRef base) {
  unsigned number = counts[base]++;
  return number == 0 ? base.str() : base.str() + std::to_string(number);
}

/// A name that says what kind of value it is, unless the value has its own.
std::string KernelPrinter::nameFor(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto own = op->getAttrOfType<StringAttr>(twk::nameAttr)) {
    return fresh(own.getValue());
  }
  Type type = value.getType();
  StringRef base = isa<gpu::ThreadIdOp>(op)  ? "thread"
                   : isa<gpu::BlockIdOp>(op) ? "block"
                   : isa<memref::ViewOp>(op) ? "part"
                   : isa<MemRefType>(type)   ? "table"
                   : type.isIndex()          ? "at"
                   : type.isInteger(1)       ? "is"
                   : isa<IntegerType>(type)  ? "n"
                                             : "v";
  // Numbered from the first on: they come in numbers.
  unsigned number = counts[base]++;
  return base == "thread" || base == "block"
             ? base.str()
             : base.str() + "_" + std::to_string(number);
}

/// True for the positive zero of a type.
static bool isZero(Attribute value) {
  auto real = dyn_cast<FloatAttr>(value);
  return real ? real.getValue().isPosZero()
              : cast<IntegerAttr>(value).getValue().isZero();
}

Expression KernelPrinter::use(Value value, bool isArgument) {
  auto found = held.find(value);
  if (found != held.end()) {
    Expression expression = std::move(found->second);
    held.erase(value);
    usedRead |= expression.readsMemory;
    return expression;
  }
  auto named = names.find(value);
  if (named != names.end()) {
    return {named->second};
  }
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    if (auto scalar = dyn_cast<TypedAttr>(constant.getValue());
        isa<IntegerAttr, FloatAttr>(constant.getValue())) {
      return literal(scalar, isArgument);
    }
    auto zeros = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (zeros && isa<VectorType>(value.getType()) &&
        (zeros.getElementType().isIntOrFloat() &&
         isZero(zeros.getSplatValue<Attribute>()))) {
      needs("Vec");
      return {typeName(value.getType()) + "{}"};
    }
  }
  fail(value.getDefiningOp() ? value.getDefiningOp() : kernel.getOperation());
  return {"?"};
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Whether the kernel writes to a buffer.
bool KernelPrinter::isWritten(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (auto store = dyn_cast<memref::StoreOp>(user)) {
      return store.getMemRef() == buffer;
    }
    return !isa<memref::LoadOp, vector::LoadOp, nvgpu::DeviceAsyncCopyOp,
                memref::ExtractAlignedPointerAsIndexOp>(user);
  });
}

std::string KernelPrinter::signature() {
  auto resident = kernel->getAttrOfType<IntegerAttr>(twk::residentAttr);
  std::string text =
      "extern \"C\" __global__ void __launch_bounds__(" +
      std::to_string(*kernel.getThreads()) +
      (resident ? ", " + std::to_string(resident.getInt()) : "") + ")\n" +
      kernel.getSymName().str() + "(";
  const char *restricted = kernel.getMayAlias() ? "" : "__restrict__ ";
  for (auto [i, buffer] : llvm::enumerate(kernel.getBuffers())) {
    std::string argument = "b" + std::to_string(i);
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    text += std::string(isWritten(buffer) ? "" : "const ") +
            storageName(element) + " *" + restricted + argument + ", ";
    name(buffer, argument);
  }
  for (auto [i, size] : llvm::enumerate(kernel.getSizes())) {
    std::string argument = "n" + std::to_string(i);
    text += "long long " + argument + ", ";
    name(size, argument);
  }
  text += "long long blocks, i8 *workspace, int *status) {\n";
  name(kernel.getBlocks(), "blocks");
  name(kernel.getWorkspace(), "workspace");
  name(kernel.getStatus(), "status");
  return text;
}

/// E.g. `contract.simt, threads 256, tile 8x8`.
static std::string describe(DictionaryAttr tactic) {
  std::string text;
  if (auto name = tactic.getAs<StringAttr>("name")) {
    text = name.str();
  }
  for (NamedAttribute entry : tactic) {
    std::string value;
    if (auto number = dyn_cast<IntegerAttr>(entry.getValue())) {
      value = " " + std::to_string(number.getInt());
    } else if (auto list = dyn_cast<DenseI64ArrayAttr>(entry.getValue())) {
      for (int64_t number : list.asArrayRef()) {
        value += (value.empty() ? " " : "x") + std::to_string(number);
      }
    }
    if (!value.empty()) {
      text += ", " + entry.getName().str() + value;
    }
  }
  return text;
}

std::string KernelPrinter::comment() {
  std::string text = "// " + kernel.getSymName().str() + "\n";
  std::string nodes = llvm::join(tw::nodeNames(kernel.getLoc()), ", ");
  if (!nodes.empty()) {
    llvm::replace(nodes, '\n', ' ');
    text += "// ONNX nodes: " + nodes + "\n";
  }
  if (auto tactic = kernel->getAttrOfType<DictionaryAttr>("tactic")) {
    text += "// tactic: " + describe(tactic) + "\n";
  }
  return text;
}

/// \returns the declarations of those short names of types that `code` has.
static std::string shortNames(StringRef code, bool isSmall) {
  std::pair<const char *, const char *> all[] = {
      {"index", isSmall ? "int" : "long long"},
      {"uindex", isSmall ? "unsigned" : "unsigned long long"},
      {"i64", "long long"},
      {"u64", "unsigned long long"},
      {"i8", "signed char"},
      {"u16", "unsigned short"},
      {"u8", "unsigned char"},
      {"f16", "unsigned short"},
      {"bf16", "unsigned short"}};
  std::string text;
  for (auto [name, type] : all) {
    if (code.contains(name)) {
      text += std::string("using ") + name + " = " + type + ";\n";
    }
  }
  return text;
}

Result<CudaSource> KernelPrinter::run() {
  for (StringRef taken : {"i", "shared", "status", "workspace", "blocks"}) {
    counts[taken] = taken == "i" ? 0 : 1;
  }
  std::string head = signature();
  block(kernel.getEntry());
  TW_RETURN_IF_ERROR(status);
  CudaSource source;
  source.comment = comment();
  source.code = deviceFunctions(functions) + head + constants + body + "}\n";
  source.code = shortNames(source.code, kernel->hasAttr(twk::smallAttr)) +
                "\n" + source.code;
  return source;
}

} // namespace cuda

LogicalResult prepareForCuda(ModuleOp kernels) {
  PassManager passes(kernels.getContext(), ModuleOp::getOperationName());
  OpPassManager &each = passes.nest<twk::KernelOp>();
  each.addPass(createCSEPass());
  each.addPass(createLoopInvariantCodeMotionPass());
  each.addPass(createCSEPass());
  return passes.run(kernels);
}

Result<CudaSource> printCuda(twk::KernelOp kernel) {
  if (!kernel.isSimt()) {
    return Status(ErrorCode::Internal,
                  "kernel '" + kernel.getSymName().str() +
                      "' is not of the model simt, which CUDA C++ is made "
                      "from");
  }
  return cuda::KernelPrinter(kernel).run();
}

} // namespace tilewright
