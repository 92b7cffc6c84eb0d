//===- DeviceFunctions.h - what kernels call --------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace tilewright::cuda {

/// \returns the definitions of the device functions called `names`, and of
/// what they need, in order. \pre every name is one of them.
std::string deviceFunctions(const llvm::StringSet<> &names);

/// \returns those of `names` that use matrix units or asynchronous copies, with
/// what they need but `Vec` (MatrixFunctions.cpp).
std::string matrixFunctions(const llvm::StringSet<> &names);

} // namespace tilewright::cuda
