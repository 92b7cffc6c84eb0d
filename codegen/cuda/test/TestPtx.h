//===- TestPtx.h - PTX for tests --------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>

namespace tilewright::test {

/// \returns why NVRTC cannot be opened, or "": tests that compile CUDA C++ are
/// skipped without it.
std::string missingNvrtc();

/// \returns the PTX of CUDA C++ for an architecture ("sm_80"). Each text is
/// compiled once. Fails the test when the compiler refuses it. \pre NVRTC is
/// there.
std::string compilePtx(const std::string &source,
                       const std::string &architecture = "sm_80");

} // namespace tilewright::test
