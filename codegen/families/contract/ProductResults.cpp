//===- ProductResults.cpp - what follows the sums of a product ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/contract/ProductResults.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/emit/ReshapeCoordinates.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

static void keep(KernelFrame &frame, Value value, const Lanes &lanes,
                 ArrayRef<Lanes> coordinates) {
  frame.setRegister(value, 0, lanes);
  for (const Memory &memory : frame.outputsOf(value)) {
    storeLanes(frame, memory,
               offsetOf(frame, memory, value.getType(), coordinates), lanes,
               Value());
  }
}

Status finishSums(KernelFrame &frame, ReduceOp reduce,
                  ArrayRef<Lanes> coordinates, Lanes sum) {
  const FusedRegion &region = frame.getRegion();
  LaneBuilder &b = frame.getBuilder();
  frame.clearRegisters();
  ArrayRef<Lanes> at = coordinates.take_front(region.parallel.size());
  Type element = scalarType(elementTypeOf(reduce.getType()));
  if (element != getElementTypeOrSelf(sum.value.getType())) {
    Type type = sum.isVector() ? Type(b.vectorOf(element)) : element;
    sum.value = b.create<arith::TruncFOp>(type, sum.value);
  }
  keep(frame, reduce.getResult(), sum, at);
  for (Operation *primitive : ArrayRef(region.primitives).drop_front()) {
    auto map = cast<MapOp>(primitive);
    SmallVector<Lanes> own =
        reshapeCoordinates(frame, region.parallel, map.getDomain(), at);
    BodyEmitter emitter(frame, map.getBody().front(), Value());
    TW_RETURN_IF_ERROR(emitter.emit(0, own));
    for (auto [value, yielded] :
         llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
      keep(frame, value, emitter.get(yielded), own);
    }
  }
  frame.clearRegisters();
  return Status::ok();
}

} // namespace tilewright::families
