//===- Tensor.cpp - tensors and views of them -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/Tensor.h"

#include "runtime/Memory.h"

#include <algorithm>

using namespace tilewright;

int64_t ShapeRef::elements() const {
  // A negative size is an error even beside a 0, an overflow is not.
  bool empty = false;
  for (int64_t dim : *this) {
    if (dim < 0) {
      return -1;
    }
    empty |= dim == 0;
  }
  int64_t product = empty ? 0 : 1;
  for (size_t axis = 0; axis < count && !empty; ++axis) {
    if (__builtin_mul_overflow(product, dims[axis], &product)) {
      return -1;
    }
  }
  return product;
}

std::string ShapeRef::toString() const {
  std::string out = "[";
  for (size_t axis = 0; axis < count; ++axis) {
    out += (axis ? ", " : "") + std::to_string(dims[axis]);
  }
  return out + "]";
}

bool ShapeRef::operator==(const ShapeRef &other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

int64_t tilewright::bytesOf(DType type, ShapeRef shape) {
  int64_t elements = shape.elements();
  int64_t bytes = 0;
  if (elements < 0 ||
      __builtin_mul_overflow(elements, int64_t(sizeOf(type)), &bytes)) {
    return -1;
  }
  return bytes;
}

Tensor::~Tensor() { freeMemory(memory); }

Result<Tensor> Tensor::create(DType dtype, std::vector<int64_t> shape) {
  if (sizeOf(dtype) == 0) {
    return Status(ErrorCode::OptionInvalid, std::string("a tensor of type ") +
                                                nameOf(dtype) +
                                                " has no fixed size");
  }
  ShapeRef dims(shape);
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) {
    return Status(ErrorCode::OptionInvalid,
                  "a tensor cannot have the shape " + dims.toString());
  }
  int64_t bytes = bytesOf(dtype, dims);
  if (bytes < 0) {
    return Status(ErrorCode::OutOfMemory, "a tensor of shape " +
                                              dims.toString() +
                                              " does not fit into memory");
  }
  Result<Block> block = Block::allocate(bytes);
  if (!block) {
    return block.status();
  }
  return adopt(dtype, std::move(shape), block->release());
}

Tensor Tensor::adopt(DType dtype, std::vector<int64_t> shape, void *data) {
  Tensor tensor;
  tensor.type = dtype;
  tensor.dims = std::move(shape);
  tensor.memory = data;
  return tensor;
}
