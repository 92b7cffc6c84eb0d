//===- TensorData.cpp - the elements of a TensorProto -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/TensorData.h"

#include <algorithm>
#include <cstring>

namespace tilewright {
namespace {

using onnx::TensorProto;

/// No tensor has more bytes than this: what an x86-64 process can address.
constexpr uint64_t maxBytes = uint64_t{1} << 47;

std::string called(const TensorProto &tensor) {
  return "tensor '" + tensor.name() + "' of type " +
         elementTypeName(tensor.data_type()) + " and dims " + dimsText(tensor);
}

Status invalid(const TensorProto &tensor, const std::string &why) {
  return Status(ErrorCode::ConstantInvalid, called(tensor) + " " + why);
}

/// Where a tensor without raw data keeps its elements.
struct TypedField {
  const char *name;
  uint64_t size;   // entries that are there
  uint64_t needed; // entries that `count` elements take
};

TypedField typedField(const TensorProto &tensor, uint64_t count) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return {"float_data", uint64_t(tensor.float_data_size()), count};
  case TensorProto::COMPLEX64:
    return {"float_data", uint64_t(tensor.float_data_size()), 2 * count};
  case TensorProto::DOUBLE:
    return {"double_data", uint64_t(tensor.double_data_size()), count};
  case TensorProto::COMPLEX128:
    return {"double_data", uint64_t(tensor.double_data_size()), 2 * count};
  case TensorProto::INT64:
    return {"int64_data", uint64_t(tensor.int64_data_size()), count};
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return {"uint64_data", uint64_t(tensor.uint64_data_size()), count};
  case TensorProto::STRING:
    return {"string_data", uint64_t(tensor.string_data_size()), count};
  default: {
    // One entry per element, or per byte of packed elements.
    uint64_t bits = std::min(elementBits(tensor.data_type()), 8);
    return {"int32_data", uint64_t(tensor.int32_data_size()),
            (count * bits + 7) / 8};
  }
  }
}

/// Some writers set raw_data to nothing and fill a typed field.
bool hasRawData(const TensorProto &tensor, uint64_t count) {
  return !tensor.raw_data().empty() ||
         (tensor.has_raw_data() && typedField(tensor, count).size == 0);
}

/// Memory that a ConstantBytes owns.
struct Buffer {
  explicit Buffer(uint64_t size)
      : bytes(std::make_shared<std::vector<std::byte>>(size)) {}
  std::byte *data() { return bytes->data(); }
  ConstantBytes finish() { return {bytes->data(), bytes->size(), bytes}; }
  std::shared_ptr<std::vector<std::byte>> bytes;
};

template <typename Element, typename Field>
ConstantBytes convertField(const Field &field) {
  Buffer buffer(uint64_t(field.size()) * sizeof(Element));
  std::byte *to = buffer.data();
  for (auto entry : field) {
    auto element = static_cast<Element>(entry);
    std::memcpy(to, &element, sizeof(Element));
    to += sizeof(Element);
  }
  return buffer.finish();
}

template <typename Field> ConstantBytes viewField(const Field &field) {
  return {reinterpret_cast<const std::byte *>(field.data()),
          size_t(field.size()) * sizeof(*field.data()), nullptr};
}

/// \returns the typed field's content in the layout of raw data.
ConstantBytes typedBytes(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
  case TensorProto::COMPLEX64:
    return viewField(tensor.float_data());
  case TensorProto::DOUBLE:
  case TensorProto::COMPLEX128:
    return viewField(tensor.double_data());
  case TensorProto::INT32:
    return viewField(tensor.int32_data());
  case TensorProto::INT64:
    return viewField(tensor.int64_data());
  case TensorProto::UINT64:
    return viewField(tensor.uint64_data());
  case TensorProto::UINT32:
    return convertField<uint32_t>(tensor.uint64_data());
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return convertField<uint16_t>(tensor.int32_data());
  default:
    return convertField<uint8_t>(tensor.int32_data());
  }
}

/// One byte per element out of `8 / bits` elements per byte, first element in
/// the lowest bits.
ConstantBytes unpack(const std::byte *packed, uint64_t count, unsigned bits) {
  Buffer buffer(count);
  unsigned perByte = 8 / bits;
  auto mask = static_cast<std::byte>((1u << bits) - 1);
  for (uint64_t i = 0; i < count; ++i) {
    buffer.data()[i] = (packed[i / perByte] >> (i % perByte * bits)) & mask;
  }
  return buffer.finish();
}

/// Writers are free to store true as any byte but 0; we store it as 1.
ConstantBytes normalizeBools(ConstantBytes bools) {
  const std::byte *end = bools.data + bools.size;
  if (std::all_of(bools.data, end,
                  [](std::byte b) { return b <= std::byte{1}; })) {
    return bools;
  }
  Buffer buffer(bools.size);
  std::transform(bools.data, end, buffer.data(), [](std::byte b) {
    return b == std::byte{0} ? b : std::byte{1};
  });
  return buffer.finish();
}

} // namespace

Result<uint64_t> elementCount(const TensorProto &tensor) {
  bool empty = false;
  bool overflow = false;
  uint64_t count = 1;
  for (int64_t dim : tensor.dims()) {
    if (dim < 0) {
      return invalid(tensor, "has a negative size");
    }
    empty |= dim == 0;
    overflow |= __builtin_mul_overflow(count, uint64_t(dim), &count);
  }
  if (empty) {
    return uint64_t{0};
  }
  // Strings have no bits of their own; each takes some bytes at least.
  uint64_t bits = std::max(elementBits(tensor.data_type()), 1);
  if (overflow || count > maxBytes / 16 || count * bits / 8 > maxBytes) {
    return invalid(tensor, "has dims whose product is too large for any "
                           "memory; the size must be below 128 TiB");
  }
  return count;
}

Result<uint64_t> storedBytes(const TensorProto &tensor) {
  if (!isKnownElementType(tensor.data_type())) {
    return Status(ErrorCode::TypeMismatch,
                  "tensor '" + tensor.name() +
                      "' has the unknown element type " +
                      elementTypeName(tensor.data_type()));
  }
  Result<uint64_t> count = elementCount(tensor);
  if (!count) {
    return count.status();
  }
  return (*count * uint64_t(elementBits(tensor.data_type())) + 7) / 8;
}

Status checkTensorData(const TensorProto &tensor) {
  Result<uint64_t> bytes = storedBytes(tensor);
  if (!bytes) {
    return bytes.status();
  }
  uint64_t count = *elementCount(tensor);
  if (tensor.has_segment()) {
    return Status(ErrorCode::UnsupportedType,
                  called(tensor) + " is stored in segments");
  }
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (tensor.data_type() == TensorProto::STRING) {
      return invalid(tensor,
                     "must not be external data: strings have no raw form");
    }
    return Status::ok();
  }
  if (tensor.data_type() != TensorProto::STRING && hasRawData(tensor, count)) {
    if (tensor.raw_data().size() != *bytes) {
      return invalid(tensor, "has " + std::to_string(tensor.raw_data().size()) +
                                 " bytes of data, but its type and size need " +
                                 std::to_string(*bytes) + " bytes");
    }
    return Status::ok();
  }
  TypedField field = typedField(tensor, count);
  if (field.size != field.needed) {
    return invalid(tensor, "has " + std::to_string(field.size) +
                               " entries in " + field.name +
                               " and no raw data, but its type and size need " +
                               std::to_string(field.needed));
  }
  return Status::ok();
}

Result<ConstantBytes> tensorData(const TensorProto &tensor,
                                 const std::byte *stored) {
  unsigned bits = elementBits(tensor.data_type());
  if (bits == 0 || bits == 6) {
    return Status(ErrorCode::UnsupportedType,
                  called(tensor) + ": constants of this element type are not "
                                   "supported");
  }
  uint64_t count = *elementCount(tensor);
  ConstantBytes bytes;
  if (stored != nullptr) {
    bytes = {stored, (count * bits + 7) / 8, nullptr};
  } else if (hasRawData(tensor, count)) {
    bytes = {reinterpret_cast<const std::byte *>(tensor.raw_data().data()),
             tensor.raw_data().size(), nullptr};
  } else {
    bytes = typedBytes(tensor);
  }
  if (bits < 8) {
    return unpack(bytes.data, count, bits);
  }
  if (tensor.data_type() == TensorProto::BOOL) {
    return normalizeBools(std::move(bytes));
  }
  return bytes;
}

} // namespace tilewright
