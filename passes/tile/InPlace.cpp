//===- InPlace.cpp - results over operands --------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/tile/InPlace.h"
#include "ir/TensorTypes.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// The value behind reshapes within a region.
static Value behindReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    value = reshape.getSource();
  }
  return value;
}

static std::optional<size_t> elementBytes(Type tensor) {
  std::optional<DType> dtype = dtypeOf(elementTypeOf(tensor));
  return dtype ? std::optional<size_t>(sizeOf(*dtype)) : std::nullopt;
}

/// True if `load` reads the element at the first `count` of its primitive's
/// coordinates, whatever the others are.
static bool readsOwn(LoadOp load, unsigned count) {
  Block::BlockArgListType own = load->getBlock()->getArguments();
  OperandRange indices = load.getIndices();
  return indices.size() >= count && own.size() >= count &&
         llvm::equal(indices.take_front(count), own.take_front(count));
}

bool readsBeforeWrites(FusedOp op, unsigned operand, unsigned result) {
  BlockArgument argument = op.getBody().getArgument(operand);
  Value written = behindReshapes(yieldOf(op).getOperand(result));
  Operation *writer = written.getDefiningOp();
  SmallVector<DimExpr> dims = dimsOf(argument.getType());
  std::optional<size_t> bytes = elementBytes(argument.getType());
  if (!isa_and_nonnull<MapOp, ReduceOp>(writer) || argument.use_empty() ||
      dims != dimsOf(written.getType()) || !bytes ||
      bytes != elementBytes(written.getType())) {
    return false;
  }
  auto rows = op->getAttrOfType<IntegerAttr>("rows");
  return llvm::all_of(argument.getUsers(), [&](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    Operation *reader = load ? load->getParentOp() : nullptr;
    if (!reader || load.getGuard()) {
      return false;
    }
    if (reader == writer) {
      return isa<MapOp>(reader) && domainOf(reader) == dims &&
             readsOwn(load, dims.size());
    }
    if (!reader->isBeforeInBlock(writer)) {
      return false;
    }
    // A row is read by one primitive after the other, then it is written.
    return rows ? readsOwn(load, rows.getInt())
                : isa<MapOp>(reader) && domainOf(reader) == dims &&
                      readsOwn(load, dims.size());
  });
}

bool mayWriteInPlace(FusedOp op) {
  for (unsigned operand = 0; operand < op.getInputs().size(); ++operand) {
    for (unsigned result = 0; result < op->getNumResults(); ++result) {
      if (readsBeforeWrites(op, operand, result)) {
        return true;
      }
    }
  }
  return false;
}

} // namespace tilewright
