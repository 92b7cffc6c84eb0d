//===- DeviceTarget.h - what runs a module, as text -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Module.h"

namespace tilewright {

/// Reads what programs of the runtime alone call a target: "cpu", "cpu:avx2",
/// "cuda" (the best code for the GPU), "cuda:sm_80" (that code), "sim" or
/// "sim:sm_80" (the simulator plays that GPU). Whether a module has such code
/// is for Module::open() to say. Error: OptionInvalid.
Result<OpenOptions> openOptionsFor(const std::string &target);

/// \returns the text for an opened module's device and code, such as
/// openOptionsFor() reads: "cpu:avx2", "cuda", "sim:sm_80". `architecture` is
/// what was asked for, or empty.
std::string targetTextOf(const Module &module, const std::string &architecture);

} // namespace tilewright
