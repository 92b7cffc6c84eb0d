//===- ObjectCache.h - object code of earlier compiles ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/twk/TwkOps.h"
#include "targets/TargetSpec.h"

#include <optional>
#include <string>

namespace tilewright {

/// Keeps the object code of kernels by their fingerprint. Several threads may
/// call it.
class ObjectCache {
public:
  virtual ~ObjectCache() = default;

  /// \returns what was stored under `fingerprint`, in this process or an
  /// earlier one.
  virtual std::optional<llvm::SmallVector<char, 0>>
  find(const std::string &fingerprint) = 0;

  virtual void store(const std::string &fingerprint,
                     llvm::ArrayRef<char> object) = 0;
};

/// \returns a hash of what a kernel's object code depends on, but for the
/// compiler itself: its operations, the level, and what denormals count.
std::string fingerprintOf(twk::KernelOp kernel, const TargetSpec &target,
                          bool keepDenormals);

} // namespace tilewright
