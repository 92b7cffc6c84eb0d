//===- Tensor.h - tensors and views of them ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// All tensors are dense and row-major.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/DType.h"
#include "tilewright/Status.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// The sizes of a tensor's axes, which somebody else keeps alive.
class ShapeRef {
public:
  ShapeRef() = default;
  ShapeRef(const int64_t *dims, size_t rank) : dims(dims), count(rank) {}
  ShapeRef(const std::vector<int64_t> &shape)
      : dims(shape.data()), count(shape.size()) {}

  size_t rank() const { return count; }
  int64_t operator[](size_t axis) const {
    assert(axis < count && "there is no such axis");
    return dims[axis];
  }
  const int64_t *begin() const { return dims; }
  const int64_t *end() const { return dims + count; }
  std::vector<int64_t> vec() const { return {begin(), end()}; }

  /// \returns the number of elements, or -1 when a size is negative or the
  /// product does not fit into 63 bits. A shape with a 0 has no elements.
  int64_t elements() const;

  /// \returns e.g. "[1, 3, 224, 224]".
  std::string toString() const;

  bool operator==(const ShapeRef &other) const;
  bool operator!=(const ShapeRef &other) const { return !(*this == other); }

private:
  const int64_t *dims = nullptr;
  size_t count = 0;
};

/// \returns the bytes of a tensor, or -1 when they do not fit into 63 bits.
int64_t bytesOf(DType type, ShapeRef shape);

/// A tensor in memory that somebody else owns. As an input it is only read.
struct TensorView {
  DType dtype = DType::F32;
  ShapeRef shape;
  void *data = nullptr;

  TensorView() = default;
  TensorView(DType dtype, ShapeRef shape, const void *data)
      : dtype(dtype), shape(shape), data(const_cast<void *>(data)) {}

  int64_t elements() const { return shape.elements(); }
  int64_t bytes() const { return bytesOf(dtype, shape); }
  template <typename T> T *as() const { return static_cast<T *>(data); }
};

/// A tensor that owns its memory, aligned to 64 bytes. It moves, and does not
/// copy by accident.
class Tensor {
public:
  Tensor() = default;
  Tensor(Tensor &&other) noexcept { swap(other); }
  Tensor &operator=(Tensor &&other) noexcept {
    swap(other);
    return *this;
  }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor();

  /// \returns a tensor of that type and shape whose elements are not
  /// initialised. Errors: OutOfMemory, OptionInvalid (a negative size, or a
  /// type without a fixed size).
  static Result<Tensor> create(DType dtype, std::vector<int64_t> shape);

  /// Takes over `data`, which std::free must be able to free.
  static Tensor adopt(DType dtype, std::vector<int64_t> shape, void *data);

  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return dims; }
  int64_t elements() const { return ShapeRef(dims).elements(); }
  int64_t bytes() const { return bytesOf(type, dims); }
  void *data() { return memory; }
  const void *data() const { return memory; }
  template <typename T> T *as() { return static_cast<T *>(memory); }
  template <typename T> const T *as() const {
    return static_cast<const T *>(memory);
  }

  /// A view that stays right as long as this tensor does not move.
  TensorView view() const { return TensorView(type, dims, memory); }

private:
  void swap(Tensor &other) noexcept {
    std::swap(type, other.type);
    dims.swap(other.dims);
    std::swap(memory, other.memory);
  }

  DType type = DType::F32;
  std::vector<int64_t> dims;
  void *memory = nullptr;
};

} // namespace tilewright
