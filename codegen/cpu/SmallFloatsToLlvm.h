//===- SmallFloatsToLlvm.h - f16 and bf16 as 16-bit integers ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// On the levels without arithmetic on them, LLVM handles `half` and `bfloat` as
// rounded f32: a mere selection between two values can become a library call.
// So they are i16 in LLVM IR, and only the two conversions of F16C see `half`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {

/// Makes `converter` map f16 and bf16 to i16, and adds the patterns for
/// constants and for the conversions between f16 and f32.
void populateSmallFloatsToLlvm(mlir::LLVMTypeConverter &converter,
                               mlir::RewritePatternSet &patterns);

} // namespace tilewright
