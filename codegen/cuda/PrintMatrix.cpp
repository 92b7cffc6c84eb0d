//===- PrintMatrix.cpp - matrix units and asynchronous copies -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Each becomes a call of a small function with inline PTX
// (MatrixFunctions.cpp).
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/KernelPrinter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::cuda {

/// The suffix of the function for a type of factors.
static std::string suffixOf(Type type, bool isTf32 = false) {
  return type.isF16()                  ? "F16"
         : type.isBF16()               ? "Bf16"
         : isTf32                      ? "Tf32"
         : type.isUnsignedInteger(8)   ? "U8"
         : type.isSignlessInteger(8)   ? "S8"
         : isa<Float8E4M3FNType>(type) ? "E4m3"
         : isa<Float8E5M2Type>(type)   ? "E5m2"
                                       : "";
}

static Type elementOf(Value vector) {
  return cast<VectorType>(vector.getType()).getElementType();
}

/// The address of an element.
static std::string addressOf(const std::string &base, const std::string &at) {
  return at == "0" ? base : base + " + " + at;
}

std::optional<Expression> KernelPrinter::matrix(Operation *op) {
  auto product = [&](StringRef name, Value a, Value b, Value c) {
    needs("Vec");
    needs(name);
    return Expression{name.str() + "(" + use(a).text + ", " + use(b).text +
                      ", " + use(c).text + ")"};
  };
  return llvm::TypeSwitch<Operation *, std::optional<Expression>>(op)
      .Case([&](nvgpu::MmaSyncOp mma) -> std::optional<Expression> {
        bool isTf32 = mma.getTf32Enabled().has_value();
        std::string suffix = suffixOf(elementOf(mma.getMatrixA()), isTf32);
        int64_t depth = mma.getMmaShapeAsArray()[2];
        bool isKnown =
            depth * elementOf(mma.getMatrixA()).getIntOrFloatBitWidth() == 256;
        if (suffix.empty() || !isKnown || suffix == "S8") {
          return std::nullopt;
        }
        return product("mma" + suffix, mma.getMatrixA(), mma.getMatrixB(),
                       mma.getMatrixC());
      })
      .Case([&](twk::MmaBytesOp mma) {
        return product("mma" + suffixOf(mma.getLhs()) + suffixOf(mma.getRhs()),
                       mma.getA(), mma.getB(), mma.getAcc());
      })
      .Case([&](nvgpu::LdMatrixOp load) {
        std::string name =
            load.getTranspose() ? "loadMatricesTransposed" : "loadMatrices";
        needs("Vec");
        needs(name);
        std::string base = use(load.getSrcMemref(), Additive);
        std::string at = use(load.getIndices().front(), Additive);
        auto type = cast<VectorType>(load.getType());
        return Expression{name + "<" + std::to_string(load.getNumTiles()) +
                              ">(" + addressOf(base, at) + ")",
                          Primary, /*readsMemory=*/true};
      })
      .Case([&](vector::ExtractStridedSliceOp slice)
                -> std::optional<Expression> {
        auto from = cast<VectorType>(slice.getSource().getType());
        auto to = cast<VectorType>(slice.getType());
        bool isRun = slice.getOffsets().size() == 1 &&
                     from.getShape().drop_front() == to.getShape().drop_front();
        if (!isRun) {
          return std::nullopt;
        }
        int64_t row = from.getNumElements() / from.getDimSize(0);
        int64_t first = cast<IntegerAttr>(slice.getOffsets()[0]).getInt() * row;
        needs("Vec");
        needs("part");
        return Expression{"part<" + std::to_string(first) + ", " +
                          std::to_string(to.getNumElements()) + ">(" +
                          use(slice.getSource()).text + ")"};
      })
      .Case([&](memref::ExtractAlignedPointerAsIndexOp pointer) {
        return Expression{"i64(" + use(pointer.getSource()).text + ")"};
      })
      .Default([](Operation *) { return std::nullopt; });
}

bool KernelPrinter::asyncCopy(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](nvgpu::DeviceAsyncCopyOp copy) {
        int64_t bytes =
            copy.getDstElements().getSExtValue() *
            cast<MemRefType>(copy.getDst().getType()).getElementTypeBitWidth() /
            8;
        if (bytes != 16 && bytes != 4) {
          return false;
        }
        std::string function = bytes == 16 ? "copyAsync" : "copyWordAsync";
        needs(function);
        std::string to = addressOf(use(copy.getDst(), Additive),
                                   use(copy.getDstIndices().front(), Additive));
        std::string from =
            addressOf(use(copy.getSrc(), Additive),
                      use(copy.getSrcIndices().front(), Additive));
        std::string count;
        if (Value elements = copy.getSrcElements()) {
          count = ", " + use(elements).text;
        }
        flushReads();
        line(function + "(" + to + ", " + from + count + ");");
        return true;
      })
      .Case([&](nvgpu::DeviceAsyncCreateGroupOp) {
        needs("commitCopies");
        line("commitCopies();");
        return true;
      })
      .Case([&](nvgpu::DeviceAsyncWaitOp wait) {
        needs("waitForCopies");
        flushReads();
        line("waitForCopies<" +
             std::to_string(wait.getNumGroups().value_or(0)) + ">();");
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace tilewright::cuda
