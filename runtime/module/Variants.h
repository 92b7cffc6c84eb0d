//===- Variants.h - a module's code, by what runs it ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/LoadedModule.h"

namespace tilewright {

/// Chooses the variants to run by `options`, verifies their plans and finds
/// their kernels. The module's signature and constants must have been read.
/// Errors: ModuleTarget, ModuleDamaged, ModuleUnreadable, OptionInvalid,
/// UnsupportedType, UnsupportedOperator.
Status loadVariants(LoadedModule &module, const OpenOptions &options);

/// The error for a module whose parts do not fit together.
Status moduleError(const std::string &what);

} // namespace tilewright
