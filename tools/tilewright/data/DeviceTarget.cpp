//===- DeviceTarget.cpp - what runs a module, as text ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/DeviceTarget.h"

namespace tilewright {

Result<OpenOptions> openOptionsFor(const std::string &target) {
  size_t colon = target.find(':');
  std::string kind = target.substr(0, colon);
  std::string rest = colon == std::string::npos ? "" : target.substr(colon + 1);
  OpenOptions options;
  bool isValid = colon == std::string::npos || !rest.empty();
  if (kind == "cpu") {
    options.device = DeviceKind::Cpu;
    options.level = cpuLevelFromName(rest);
    isValid &= rest.empty() || options.level.has_value();
  } else if (kind == "cuda" || kind == "sim") {
    options.device = kind == "sim" ? DeviceKind::Simulator : DeviceKind::Cuda;
    options.architecture = rest;
  } else {
    isValid = false;
  }
  if (!isValid) {
    return Status(ErrorCode::OptionInvalid,
                  "--target '" + target +
                      "': expected cpu, cpu:LEVEL, cuda, cuda:ARCHITECTURE, "
                      "sim or sim:ARCHITECTURE");
  }
  return options;
}

std::string targetTextOf(const Module &module,
                         const std::string &architecture) {
  if (module.device() == DeviceKind::Cpu) {
    return std::string("cpu:") + nameOf(module.level());
  }
  std::string kind = module.device() == DeviceKind::Cuda ? "cuda" : "sim";
  return architecture.empty() ? kind : kind + ":" + architecture;
}

} // namespace tilewright
