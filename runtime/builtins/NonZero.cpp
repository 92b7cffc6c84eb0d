//===- NonZero.cpp - coordinates of elements that are not zero ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Builtins.h"

#include <cstring>

using namespace tilewright;

/// Zero is all bits but these being 0: the sign bit of types with -0.
static bool signBit(DType type, uint64_t &mask) {
  switch (type) {
  case DType::F64:
    mask = uint64_t(1) << 63;
    return true;
  case DType::F32:
    mask = uint64_t(1) << 31;
    return true;
  case DType::F16:
  case DType::BF16:
    mask = uint64_t(1) << 15;
    return true;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    mask = uint64_t(1) << 7;
    return true;
  case DType::F4E2M1:
    mask = uint64_t(1) << 3;
    return true;
  case DType::F8E8M0: // has no zero
  case DType::String:
  case DType::C64:
  case DType::C128:
    return false;
  default:
    mask = 0;
    return true;
  }
}

static bool isNonZero(const char *element, size_t size, uint64_t signMask) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, size);
  return (bits & ~signMask) != 0;
}

Status builtins::nonzero(BuiltinCall &call) {
  const TensorView &x = *call.input(0);
  uint64_t mask = 0;
  if (!signBit(x.dtype, mask)) {
    return call.unsupportedType(x.dtype);
  }
  size_t size = sizeOf(x.dtype);
  int64_t elements = x.elements();
  const char *data = x.as<char>();
  int64_t count = 0;
  for (int64_t i = 0; i < elements; ++i) {
    count += isNonZero(data + i * size, size, mask);
  }
  TW_RETURN_IF_ERROR(call.allocate({count}));
  size_t rank = x.shape.rank();
  int64_t shape[] = {static_cast<int64_t>(rank), count};
  TW_RETURN_IF_ERROR(call.expectOutput(0, DType::I64, ShapeRef(shape, 2)));
  if (!call.output(0)) {
    return Status::ok();
  }

  int64_t *out = call.output(0)->as<int64_t>();
  std::vector<int64_t> coordinates(rank, 0);
  for (int64_t i = 0, found = 0; i < elements; ++i) {
    if (isNonZero(data + i * size, size, mask)) {
      for (size_t axis = 0; axis < rank; ++axis) {
        out[static_cast<int64_t>(axis) * count + found] = coordinates[axis];
      }
      ++found;
    }
    for (size_t axis = rank; axis-- > 0;) {
      if (++coordinates[axis] < x.shape[axis]) {
        break;
      }
      coordinates[axis] = 0;
    }
  }
  return Status::ok();
}
