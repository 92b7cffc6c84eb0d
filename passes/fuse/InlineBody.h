//===- InlineBody.h - a map's body in place of a load -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/BodyBuilder.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {

/// Replaces `load`, which reads a result of `producer`, by the producer's
/// computation at the load's coordinates. Where the load's guard is false,
/// nothing is read. Unless `strict`, a rounding to f16 or bf16 that meets its
/// widening goes, but for explicit casts (see markCasts). The load is erased.
/// A guarded load whose alternative comes out where `main`, a load of the
/// producer, gives `padding` needs no selection: the loads get the guard.
void inlineProducer(tw::LoadOp load, tw::MapOp producer, bool strict,
                    tw::LoadOp main = {}, mlir::TypedAttr padding = {});

/// Replaces a load of a one-element or splat constant by its scalar.
/// \returns false if the source is no such constant.
bool inlineConstant(tw::LoadOp load);

/// Lets a reshape of reshapes, if there is one, read what they read.
void skipReshapes(tw::ReshapeOp reshape);

/// Replaces a load of a reshape's result by one of its source.
/// \returns false if that would need divisions and they are not allowed.
bool readThroughReshape(tw::LoadOp load, bool allowDivision);

/// Clones an operation of a body and folds the copy.
void cloneFolded(tw::BodyBuilder &body, mlir::Operation &op,
                 mlir::IRMapping &mapping);

/// Merges equal computations of a body and drops unused ones.
void simplifyBody(mlir::Operation *primitive);

/// Marks the roundings of `primitive` that are casts of the model, whose effect
/// must stay; `unmarkCasts` removes the marks.
void markCasts(mlir::Operation *primitive);
void unmarkCasts(mlir::Operation *primitive);

} // namespace tilewright
