//===- Registration.h - dialects and passes ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tilewright {

/// Adds every dialect that the compiler's IR may use.
void registerDialects(mlir::DialectRegistry &registry);

/// Makes every pass known by name, for tilewright-opt.
void registerPasses();

/// The part of registerPasses() that are whole phases.
void registerPhasePasses();

} // namespace tilewright
