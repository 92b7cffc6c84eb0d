//===- TwDialect.cpp - the graph dialect ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/TwDialect.h"
#include "ir/TwOps.h"

using namespace mlir;
using namespace tilewright::tw;

#include "ir/TwDialect.cpp.inc"

void TwDialect::initialize() {
  constants = std::make_unique<ConstantStore>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "ir/TwOps.cpp.inc"
      >();
}

