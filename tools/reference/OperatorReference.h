//===- OperatorReference.h - which ONNX operators compile -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>

namespace tilewright::reference {

/// \returns docs/reference/onnx-operators.md: every operator that ONNX's
/// registry knows, beside what the importer does with it.
std::string operatorReference();

} // namespace tilewright::reference
