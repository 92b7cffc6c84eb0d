//===- TwkDialect.cpp - the kernel dialect --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/twk/TwkOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/twk/TwkDialect.cpp.inc"
#include "ir/twk/TwkEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/twk/TwkAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "ir/twk/TwkOps.cpp.inc"

namespace tilewright::twk {

void TwkDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/twk/TwkAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/twk/TwkOps.cpp.inc"
      >();
}

} // namespace tilewright::twk
