//===- SmallFloat.h - 8-bit and 4-bit floats in bodies ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Conversions of float8 and float4 written with integer operations, so that
// every target computes them alike. A body sees such an element as a scalar of
// its own type; only `arith.bitcast` to and from the integer of its width is
// ever applied to it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tilewright::tw {

class BodyBuilder;

/// \returns the f32 that a small float stands for, exactly.
mlir::Value widenSmallFloat(BodyBuilder &builder, mlir::Value scalar);

/// \returns `scalar` (f32 or f64) rounded to nearest even in `type`. Values
/// beyond the largest finite one saturate, or (not `saturate`) become infinity
/// where the type has one and NaN where it has not, as ONNX's Cast says.
mlir::Value narrowSmallFloat(BodyBuilder &builder, mlir::Value scalar,
                             mlir::FloatType type, bool saturate);

} // namespace tilewright::tw
