//===- GpuArchitecture.cpp - which code runs on which GPU -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/GpuArchitecture.h"

#include <tuple>

using namespace tilewright;

// "sm_" and at most this many digits, the last of which is the minor number.
static constexpr size_t mostDigits = 4;

std::optional<GpuArchitecture> GpuArchitecture::parse(std::string_view name) {
  GpuArchitecture result;
  if (name.substr(0, 3) != "sm_") {
    return std::nullopt;
  }
  name.remove_prefix(3);
  if (!name.empty() && name.back() == 'a') {
    result.isSpecific = true;
    name.remove_suffix(1);
  }
  if (name.size() < 2 || name.size() > mostDigits) {
    return std::nullopt;
  }
  int number = 0;
  for (char digit : name) {
    if (digit < '0' || digit > '9') {
      return std::nullopt;
    }
    number = number * 10 + (digit - '0');
  }
  result.major = number / 10;
  result.minor = number % 10;
  return result;
}

std::string GpuArchitecture::name() const {
  return "sm_" + std::to_string(major * 10 + minor) + (isSpecific ? "a" : "");
}

bool GpuArchitecture::machineCodeRunsOn(const GpuArchitecture &device) const {
  return major == device.major &&
         (isSpecific ? minor == device.minor : minor <= device.minor);
}

bool GpuArchitecture::ptxRunsOn(const GpuArchitecture &device) const {
  return isSpecific
             ? machineCodeRunsOn(device)
             : std::tie(major, minor) <= std::tie(device.major, device.minor);
}

bool GpuArchitecture::isBetterThan(const GpuArchitecture &other) const {
  return std::tie(major, minor, isSpecific) >
         std::tie(other.major, other.minor, other.isSpecific);
}
