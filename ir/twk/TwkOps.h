//===- TwkOps.h - the kernel dialect ----------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The dialect `twk`: kernels, as code generation builds them and codegen/cpu
// lowers them. To build one:
//
//   auto kernel = twk::KernelOp::create(builder, loc, "tw_add",
//                     twk::ExecutionModel::simd, {f32, f32, f32},
//                     /*numSizes=*/1);
//   builder.setInsertionPointToStart(&kernel.getEntry());
//   … kernel.getBuffer(0), kernel.getSize(0), kernel.getBegin() …
//   twk::ReturnOp::create(builder, loc);
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/twk/TwkDialect.h.inc"
#include "ir/twk/TwkEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/twk/TwkAttrs.h.inc"

#define GET_OP_CLASSES
#include "ir/twk/TwkOps.h.inc"

namespace tilewright::twk {

/// A name for an operation's result, or a loop's variable, where a kernel is
/// printed for people; on a loop, that it should be unrolled, as an integer by
/// how much.
constexpr llvm::StringLiteral nameAttr = "twk.name";
constexpr llvm::StringLiteral unrollAttr = "twk.unroll";
/// On a kernel: no index in it exceeds 32 bits, with a sign.
constexpr llvm::StringLiteral smallAttr = "twk.small";
/// On a kernel: so many of its blocks, an integer, should fit a multiprocessor.
/// Without it, a compiler may spill a few registers for room for more.
constexpr llvm::StringLiteral residentAttr = "twk.resident";

/// \returns true when a kernel's buffer can have this element type: i8, i16,
/// i32, i64, f16, bf16, f32 or f64.
bool isStorageType(mlir::Type type);

} // namespace tilewright::twk
