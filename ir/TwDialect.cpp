//===- TwDialect.cpp - the graph dialect ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/TwDialect.h"
#include "ir/TwOps.h"
#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace tilewright::tw;

#include "ir/TwDialect.cpp.inc"

namespace {

/// Constants of a scalar body stay in it: it moves into kernels as a whole.
struct KeepConstantsInBodies : public DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  bool shouldMaterializeInto(Region *region) const final {
    return isPrimitive(region->getParentOp());
  }
};

} // namespace

void TwDialect::initialize() {
  addInterfaces<KeepConstantsInBodies>();
  constants = std::make_unique<ConstantStore>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "ir/TwOps.cpp.inc"
      >();
}
