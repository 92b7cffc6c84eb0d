//===- RunCase.h - one node test --------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/conformance/Cases.h"
#include "tools/driver/Compiler.h"

namespace tilewright::conformance {

/// Compiles a case's model, runs it on the case's inputs and compares every
/// output: types and shapes exactly, values within the case's tolerance.
/// \returns what is wrong, or an empty text. A refusal by the compiler or the
/// runtime begins with its number, "TW2001: …".
std::string runCase(const Case &test, const CompileOptions &options);

} // namespace tilewright::conformance
