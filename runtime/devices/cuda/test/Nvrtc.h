//===- Nvrtc.h - kernels for tests ------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>

namespace tilewright::test {

/// Whether NVRTC can be opened; tests that compile kernels are skipped without.
bool hasNvrtc();

/// \returns the PTX of CUDA C++ for an architecture ("sm_80"). Each text is
/// compiled once. Fails the test when the compiler refuses it.
std::string compilePtx(const std::string &source,
                       const std::string &architecture = "sm_80");

} // namespace tilewright::test
