//===- Npy.cpp - tensors in NumPy's file format -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format
// Six bytes of magic, two of version, the header's length (2 or 4 bytes), the
// header, the elements.
//
//===----------------------------------------------------------------------===//

#include "tools/support/Npy.h"

#include "tools/support/NpyHeader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace tilewright {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Longer headers are of arrays of records.
constexpr uint64_t maxHeader = 1 << 16;

constexpr size_t maxRank = 64;

Status unreadable(const std::filesystem::path &path, const std::string &why) {
  return Status(ErrorCode::InputUnreadable,
                "cannot read '" + path.string() + "': " + why);
}

/// Bits of an element that takes less than the byte that it is stored in.
unsigned bitsBelowByte(DType dtype) {
  switch (dtype) {
  case DType::I4:
  case DType::U4:
  case DType::F4E2M1:
    return 4;
  case DType::I2:
  case DType::U2:
    return 2;
  default:
    return 8;
  }
}

/// The descriptor's letter and bytes per element: 'f' and 4.
struct ElementKind {
  char letter;
  size_t bytes;
};

ElementKind kindOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
  case DType::F32:
  case DType::F64:
    return {'f', sizeOf(dtype)};
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return {'i', sizeOf(dtype)};
  case DType::U8:
  case DType::U16:
  case DType::U32:
  case DType::U64:
    return {'u', sizeOf(dtype)};
  case DType::Bool:
    return {'b', 1};
  case DType::C64:
  case DType::C128:
    return {'c', sizeOf(dtype)};
  case DType::String:
    return {'U', 0};
  default:
    return {'V', sizeOf(dtype)};
  }
}

/// \returns whether NumPy has a name of its own for the type.
bool isNumpyType(DType dtype) { return kindOf(dtype).letter != 'V'; }

/// \returns whether elements of `descriptor` can be read as `dtype`.
bool describes(const std::string &descriptor, DType dtype) {
  if (descriptor.size() < 3) {
    return false;
  }
  ElementKind kind = kindOf(dtype);
  if (descriptor.substr(2) != std::to_string(kind.bytes)) {
    return false;
  }
  char letter = descriptor[1];
  if (letter == kind.letter) {
    return true;
  }
  return !isNumpyType(dtype) &&
         std::string_view("Vfui").find(letter) != std::string_view::npos;
}

void swapBytes(Tensor &tensor) {
  ElementKind kind = kindOf(tensor.dtype());
  // A complex number is two numbers.
  size_t unit = kind.letter == 'c' ? kind.bytes / 2 : kind.bytes;
  auto *bytes = tensor.as<char>();
  for (int64_t at = 0; at < tensor.bytes(); at += int64_t(unit)) {
    std::reverse(bytes + at, bytes + at + unit);
  }
}

/// \returns the elements of `columns`, whose first axis runs fastest, in
/// row-major order.
Result<Tensor> toRowMajor(const Tensor &columns) {
  Result<Tensor> rows = Tensor::create(columns.dtype(), columns.shape());
  if (!rows) {
    return rows;
  }
  const std::vector<int64_t> &shape = columns.shape();
  std::vector<int64_t> index(shape.size(), 0);
  size_t bytes = sizeOf(columns.dtype());
  for (int64_t row = 0; row < columns.elements(); ++row) {
    int64_t column = 0;
    for (size_t axis = shape.size(); axis-- > 0;) {
      column = column * shape[axis] + index[axis];
    }
    std::memcpy(rows->as<char>() + row * bytes,
                columns.as<char>() + column * bytes, bytes);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) {
        break;
      }
      index[axis] = 0;
    }
  }
  return rows;
}

/// Brings bytes of small types into the form that the runtime expects.
void normalize(Tensor &tensor) {
  auto *bytes = tensor.as<uint8_t>();
  if (tensor.dtype() == DType::Bool) {
    std::transform(bytes, bytes + tensor.bytes(), bytes,
                   [](uint8_t b) { return b != 0; });
  } else if (unsigned bits = bitsBelowByte(tensor.dtype()); bits < 8) {
    auto mask = static_cast<uint8_t>((1u << bits) - 1);
    std::transform(bytes, bytes + tensor.bytes(), bytes,
                   [mask](uint8_t b) { return b & mask; });
  }
}

/// Reads up to the first element. `size` is that of the file.
Result<NpyHeader> readHeader(std::ifstream &file, uint64_t size,
                             const std::filesystem::path &path) {
  unsigned char start[12] = {};
  file.read(reinterpret_cast<char *>(start), 10);
  if (!file || std::memcmp(start, magic.data(), magic.size()) != 0) {
    return unreadable(path, "it is not a .npy file");
  }
  unsigned version = start[6];
  if (version < 1 || version > 3) {
    return unreadable(path, "its format version " + std::to_string(version) +
                                " is unknown");
  }
  uint64_t length = start[8] | start[9] << 8;
  if (version > 1) {
    file.read(reinterpret_cast<char *>(start) + 10, 2);
    length |= uint64_t(start[10]) << 16 | uint64_t(start[11]) << 24;
  }
  if (!file || length > size || length > maxHeader) {
    return unreadable(path, "its header is damaged");
  }
  std::string text(length, '\0');
  if (!file.read(text.data(), std::streamsize(length))) {
    return unreadable(path, "it ends within its header");
  }
  auto header = parseNpyHeader(text);
  if (const auto *why = std::get_if<std::string>(&header)) {
    return unreadable(path, "its header is damaged: " + *why);
  }
  return std::get<NpyHeader>(std::move(header));
}

Status checkType(const NpyHeader &header, DType dtype,
                 const std::filesystem::path &path) {
  if (describes(header.descriptor, dtype)) {
    return Status::ok();
  }
  return Status(ErrorCode::InputType,
                "'" + path.string() + "' holds elements of type '" +
                    header.descriptor + "', but " + nameOf(dtype) + " ('" +
                    npyDescriptor(dtype) + "') is expected");
}

Status noStrings(const std::filesystem::path &path) {
  return Status(ErrorCode::UnsupportedType,
                "'" + path.string() +
                    "': tensors of strings have no .npy form here");
}

} // namespace

std::string npyDescriptor(DType dtype) {
  ElementKind kind = kindOf(dtype);
  if (kind.bytes == 0) {
    return "";
  }
  bool noOrder = kind.bytes == 1 && isNumpyType(dtype);
  return std::string(noOrder ? "|" : "<") + kind.letter +
         std::to_string(kind.bytes);
}

Result<Tensor> readNpy(const std::filesystem::path &path, DType dtype) {
  if (dtype == DType::String) {
    return noStrings(path);
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return unreadable(path,
                      error ? error.message() : "it is not a regular file");
  }
  uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) {
    return unreadable(path, std::strerror(errno));
  }
  Result<NpyHeader> header = readHeader(file, size, path);
  if (!header) {
    return header.status();
  }
  TW_RETURN_IF_ERROR(checkType(*header, dtype, path));
  if (header->shape.size() > maxRank) {
    return unreadable(path, "its array has more than " +
                                std::to_string(maxRank) + " axes");
  }

  // Before any memory is taken: the file must have what its header promises.
  int64_t bytes = bytesOf(dtype, header->shape);
  uint64_t there = size - uint64_t(file.tellg());
  if (bytes < 0 || uint64_t(bytes) != there) {
    return unreadable(path,
                      "shape " + ShapeRef(header->shape).toString() +
                          " of type " + nameOf(dtype) + " needs " +
                          (bytes < 0 ? "too many" : std::to_string(bytes)) +
                          " bytes of elements, and " + std::to_string(there) +
                          " are there");
  }
  Result<Tensor> tensor = Tensor::create(dtype, header->shape);
  if (!tensor) {
    return tensor;
  }
  if (!file.read(tensor->as<char>(), bytes)) {
    return unreadable(path, "it ends within its elements");
  }
  if (header->descriptor[0] == '>') {
    swapBytes(*tensor);
  }
  normalize(*tensor);
  return header->fortranOrder ? toRowMajor(*tensor) : std::move(tensor);
}

Status writeNpy(const std::filesystem::path &path, const TensorView &tensor) {
  if (tensor.dtype == DType::String) {
    return noStrings(path);
  }
  std::string header = "{'descr': '" + npyDescriptor(tensor.dtype) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.shape) {
    header += std::to_string(size) + (tensor.shape.rank() == 1 ? "," : ", ");
  }
  if (tensor.shape.rank() > 1) {
    header.resize(header.size() - 2);
  }
  header += "), }";
  // The elements begin at a multiple of 64 bytes, after a newline.
  constexpr size_t prefix = 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';

  // What is no file, such as /dev/stdout, cannot be replaced by one.
  std::error_code ignored;
  bool replace = !std::filesystem::exists(path, ignored) ||
                 std::filesystem::is_regular_file(path, ignored);
  std::filesystem::path target = path;
  if (replace) {
    target += ".tmp" + std::to_string(::getpid());
  }
  auto failed = [&](const std::string &why) {
    if (replace) {
      std::filesystem::remove(target, ignored);
    }
    return Status(ErrorCode::OutputUnwritable,
                  "cannot write '" + path.string() + "': " + why);
  };
  errno = 0;
  std::ofstream file(target, std::ios::binary | std::ios::trunc);
  file << magic << '\x01' << '\0' << char(header.size() & 0xff)
       << char(header.size() >> 8) << header;
  if (tensor.bytes() > 0) {
    file.write(tensor.as<char>(), tensor.bytes());
  }
  file.close();
  if (!file) {
    return failed(errno != 0 ? std::strerror(errno) : "the device is full?");
  }
  std::error_code error;
  if (replace) {
    std::filesystem::rename(target, path, error);
  }
  return error ? failed(error.message()) : Status::ok();
}

} // namespace tilewright
