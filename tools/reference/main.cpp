//===- main.cpp - tilewright-reference ------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Prints docs/reference/onnx-operators.md. scripts/reference.py calls it.
//
//===----------------------------------------------------------------------===//

#include "tools/reference/OperatorReference.h"

#include <cstdio>

int main() {
  std::string text = tilewright::reference::operatorReference();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0
                                                                         : 1;
}
