//===- GpuArchitecture.h - which code runs on which GPU ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

/// A compute capability as the names of targets write it: "sm_80", "sm_90a".
struct GpuArchitecture {
  int major = 0;
  int minor = 0;
  /// The "a" of "sm_90a": with instructions that no other architecture has.
  bool isSpecific = false;

  /// \returns the architecture with that name, if it is one.
  static std::optional<GpuArchitecture> parse(std::string_view name);

  /// \returns "sm_90a".
  std::string name() const;

  /// Whether machine code for this architecture runs on a device of
  /// capability `device`: the same major number, and no newer.
  bool machineCodeRunsOn(const GpuArchitecture &device) const;

  /// Whether PTX for this architecture can be compiled for the device.
  bool ptxRunsOn(const GpuArchitecture &device) const;

  /// Whether code for this architecture is preferred to code for `other` where
  /// both run.
  bool isBetterThan(const GpuArchitecture &other) const;
};

} // namespace tilewright
