//===- MemoryAccess.cpp - loads and stores of lanes -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/emit/MemoryAccess.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// `type`, or a vector of it like `like`.
static Type shapedLike(Type type, Type like) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? VectorType::get(vector.getShape(), type) : type;
}

/// From what memory holds to what bodies compute with.
static Value decode(LaneBuilder &b, Value stored, Type element) {
  Type type = bodyType(scalarType(element));
  Type storage = storageType(element);
  if (type == storage) {
    return stored;
  }
  Type result = shapedLike(type, stored.getType());
  if (type.isInteger(1)) {
    Value zero = b.create<arith::ConstantOp>(b.getZeroAttr(stored.getType()));
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, stored, zero);
  }
  return b.create<arith::TruncIOp>(result, stored);
}

static Value encode(LaneBuilder &b, Value value, Type element) {
  Type storage = storageType(element);
  Type type = shapedLike(storage, value.getType());
  return type == value.getType() ? value
                                 : Value(b.create<arith::ExtUIOp>(type, value));
}

static Value both(LaneBuilder &b, Value x, Value y) {
  return !x ? y : !y ? x : Value(b.create<arith::AndIOp>(x, y));
}

static Value zeroOf(LaneBuilder &b, Type type) {
  return b.create<arith::ConstantOp>(b.getZeroAttr(type));
}

static Value allLanes(LaneBuilder &b) {
  auto type = b.vectorOf(b.getI1Type());
  return b.create<arith::ConstantOp>(DenseElementsAttr::get(type, true));
}

Lanes offsetOf(KernelFrame &frame, const Memory &memory, Type tensor,
               ArrayRef<Lanes> coordinates) {
  LaneBuilder &b = frame.getBuilder();
  const std::optional<Slice> &slice = memory.slice;
  Lanes offset = slice ? frame.size(slice->offset) : Lanes::index(0);
  ArrayRef<Lanes> strides = frame.stridesOf(slice ? slice->whole : tensor);
  if (slice) {
    offset = b.mul(offset, strides[slice->axis]);
  }
  for (unsigned i = memory.ignored; i < coordinates.size(); ++i) {
    offset = b.add(offset, b.mul(coordinates[i], strides[i]));
  }
  return memory.origin ? b.sub(offset, Lanes::index(memory.origin)) : offset;
}

/// True when the machine has no masked form of an access to `storage` that is
/// not contiguous, so that LLVM would branch for each lane.
static bool lacksMaskedGather(const KernelFrame &frame, Type storage) {
  return !frame.getTarget().hasMaskedOps ||
         storage.getIntOrFloatBitWidth() < 32;
}

/// Asks for the cache lines of a vector that a later iteration will load. What
/// a core takes from memory during the memory's latency, at 20 GB/s and 100 ns,
/// is two kilobytes.
static void readAhead(LaneBuilder &b, const Memory &memory,
                      const Lanes &offset) {
  constexpr int64_t aheadBytes = 2048, lineBytes = 64;
  constexpr unsigned firstCache = 3; // as in llvm.prefetch
  int64_t elementBytes = storageBytes(memory.element);
  for (int64_t i = 0; i < b.getWidth() * elementBytes; i += lineBytes) {
    Lanes distance = Lanes::index((aheadBytes + i) / elementBytes);
    b.create<memref::PrefetchOp>(memory.memref,
                                 b.first(b.add(offset, distance)),
                                 /*isWrite=*/false, firstCache,
                                 /*isDataCache=*/true);
  }
}

/// What a GPU's access of many elements at once needs to know: buffers begin at
/// multiples of 16 bytes, other memory is not known to. Nothing for a
/// processor, which takes any address.
static llvm::MaybeAlign simtAlignment(KernelFrame &frame, const Memory &memory,
                                      const Lanes &offset) {
  bool isAligned = isa<BlockArgument>(memory.memref) || memory.isAligned;
  if (!frame.isSimt() || !isAligned) {
    return std::nullopt;
  }
  constexpr int64_t ofBuffers = 16;
  int64_t bytes = offset.firstAlignment() * storageBytes(memory.element);
  return llvm::MaybeAlign(std::gcd(ofBuffers, bytes));
}

/// Loads a vector; lanes outside `mask` are unspecified.
static Value loadVector(KernelFrame &frame, const Memory &memory,
                        const Lanes &offset, Value mask) {
  LaneBuilder &b = frame.getBuilder();
  Type storage = cast<MemRefType>(memory.memref.getType()).getElementType();
  VectorType type = b.vectorOf(storage);
  bool isContiguous =
      offset.isLinear() && !offset.strideValue && offset.stride == 1;
  if (isContiguous && !mask) {
    if (memory.readsAhead) {
      readAhead(b, memory, offset);
    }
    return b.create<vector::LoadOp>(type, memory.memref, b.first(offset),
                                    /*nontemporal=*/false,
                                    simtAlignment(frame, memory, offset));
  }
  if (isContiguous && frame.getTarget().hasMaskedOps) {
    return b.create<vector::MaskedLoadOp>(type, memory.memref, b.first(offset),
                                          mask, zeroOf(b, type));
  }
  Value positions = b.asVector(offset);
  if (mask && lacksMaskedGather(frame, storage)) {
    // Lanes that do not happen read the first element instead.
    positions = b.create<arith::SelectOp>(mask, positions,
                                          zeroOf(b, positions.getType()));
    mask = Value();
  }
  return b.create<vector::GatherOp>(type, memory.memref, b.constantIndex(0),
                                    positions, mask ? mask : allLanes(b),
                                    zeroOf(b, type));
}

Lanes loadLanes(KernelFrame &frame, const Memory &memory, const Lanes &offset,
                const Activity &activity) {
  LaneBuilder &b = frame.getBuilder();
  bool guardVaries =
      activity.guard && isa<VectorType>(activity.guard.getType());
  bool isContiguous =
      offset.isLinear() && !offset.strideValue && offset.stride == 1;
  if (activity.guard && !guardVaries && isContiguous &&
      frame.getTarget().hasMaskedOps) {
    // A mask of all lanes or none costs less than a branch.
    Activity masked = activity;
    masked.guard = b.splat(activity.guard);
    return loadLanes(frame, memory, offset, masked);
  }
  if (activity.guard && !guardVaries) {
    bool isScalar =
        offset.isUniform() && !isa<VectorType>(activity.otherwise.getType());
    auto asResult = [&](Value value) {
      return isScalar || isa<VectorType>(value.getType()) ? value
                                                          : b.splat(value);
    };
    Type type = bodyType(scalarType(memory.element));
    Type resultType = isScalar ? type : Type(b.vectorOf(type));
    auto branch = b.create<scf::IfOp>(TypeRange(resultType), activity.guard,
                                      /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Lanes loaded =
        loadLanes(frame, memory, offset, {activity.lanes, Value(), Value()});
    b.create<scf::YieldOp>(asResult(loaded.value));
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(asResult(activity.otherwise));
    Value result = branch.getResult(0);
    return isScalar ? Lanes::scalar(result) : Lanes::vector(result);
  }
  if (offset.isUniform() && !guardVaries) {
    Value stored = b.create<memref::LoadOp>(memory.memref, b.first(offset));
    return Lanes::scalar(decode(b, stored, memory.element));
  }
  Value mask = both(b, activity.lanes, activity.guard);
  Value value =
      decode(b, loadVector(frame, memory, offset, mask), memory.element);
  if (activity.guard) {
    Value otherwise = isa<VectorType>(activity.otherwise.getType())
                          ? activity.otherwise
                          : b.splat(activity.otherwise);
    value = b.create<arith::SelectOp>(activity.guard, value, otherwise);
  }
  return Lanes::vector(value);
}

/// Writes a whole vector at contiguous addresses.
static void storeVector(KernelFrame &frame, const Memory &memory,
                        const Lanes &offset, Value stored) {
  LaneBuilder &b = frame.getBuilder();
  auto type = cast<VectorType>(stored.getType());
  int64_t elementBytes = storageBytes(memory.element);
  int64_t alignment = std::min<int64_t>(frame.getTarget().vectorBytes,
                                        type.getNumElements() * elementBytes);
  constexpr int64_t leastStreamed = 16; // bytes of the smallest such store
  bool isAligned =
      memory.linesUp || offset.firstAlignment() * elementBytes % alignment == 0;
  if (memory.isStreamed && isAligned && alignment >= leastStreamed) {
    b.create<vector::StoreOp>(stored, memory.memref, b.first(offset),
                              /*nontemporal=*/true,
                              llvm::MaybeAlign(alignment));
    return;
  }
  b.create<vector::StoreOp>(stored, memory.memref, b.first(offset),
                            /*nontemporal=*/false,
                            simtAlignment(frame, memory, offset));
}

void storeLanes(KernelFrame &frame, const Memory &memory, const Lanes &offset,
                const Lanes &value, Value activeLanes) {
  LaneBuilder &b = frame.getBuilder();
  if (offset.isUniform()) {
    b.create<memref::StoreOp>(encode(b, b.first(value), memory.element),
                              memory.memref, b.first(offset));
    return;
  }
  Value stored = encode(b, b.asVector(value), memory.element);
  if (offset.isLinear() && !offset.strideValue && offset.stride == 1) {
    if (activeLanes) {
      b.create<vector::MaskedStoreOp>(memory.memref, b.first(offset),
                                      activeLanes, stored);
    } else {
      storeVector(frame, memory, offset, stored);
    }
    return;
  }
  b.create<vector::ScatterOp>(Type(), memory.memref, b.constantIndex(0),
                              b.asVector(offset),
                              activeLanes ? activeLanes : allLanes(b), stored);
}

} // namespace tilewright::families
