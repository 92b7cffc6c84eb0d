//===- Reproducer.h - what a report of a fault needs ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/driver/Compiler.h"

namespace tilewright {

/// Compiles the model once more with a dump of every phase into a folder in the
/// user's cache, beside the error's text and the options. \returns the error
/// with the folder's name and what to do.
Status writeReproducer(const std::string &path, const CompileOptions &options,
                       const Status &error);

} // namespace tilewright
