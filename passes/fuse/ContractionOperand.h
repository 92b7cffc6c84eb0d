//===- ContractionOperand.h - maps that contractions compute ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A contraction can take an operand through arithmetic on its elements: a cast,
// or integers minus a zero point times a scale. Then the narrow tensor is what
// goes through memory.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"

namespace tilewright {

/// A map of one tensor's elements and of parameters, smaller tensors such as
/// scales and zero points, all read through plain coordinates.
struct ElementwiseOperand {
  mutable tw::LoadOp main; // of the tensor; ODS accessors are not const
  llvm::SmallVector<unsigned> divided; // axes whose coordinates are divided
};

/// \returns `map` in that form, nullopt if it has not got it.
std::optional<ElementwiseOperand> elementwiseOperandOf(tw::MapOp map);

/// \returns what the tensor of `operand` gives where `map` gives `wanted`: the
/// padding behind a padding. Parameters are zero there unless their coordinates
/// are constants. Null if neither zero nor a constant of the body does.
mlir::TypedAttr paddingBehind(tw::MapOp map, const ElementwiseOperand &operand,
                              mlir::Value wanted);

} // namespace tilewright
