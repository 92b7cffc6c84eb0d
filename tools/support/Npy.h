//===- Npy.h - tensors in NumPy's file format -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Tensor.h"

#include <filesystem>
#include <string>

namespace tilewright {

/// Reads a .npy file (format versions 1, 2 and 3) as a tensor of type `dtype`.
///
/// NumPy has no names for small types, so the type that a model declares
/// decides: bfloat16 is any 2-byte `V2`; 8-bit floats, and 4-bit and 2-bit
/// elements, one per byte in the low bits, are `V1`, `f1`, `u1` or `i1`.
/// Fortran order becomes row-major, big-endian becomes little-endian.
///
/// Errors: InputUnreadable (missing, damaged, not a .npy file), InputType (the
/// file's type is another one), UnsupportedType (strings), OutOfMemory.
Result<Tensor> readNpy(const std::filesystem::path &path, DType dtype);

/// Writes a .npy file of version 1, little-endian, row-major. The file appears
/// complete or not at all. Errors: OutputUnwritable, UnsupportedType (strings).
Status writeNpy(const std::filesystem::path &path, const TensorView &tensor);

/// \returns the type descriptor that writeNpy() uses: "<f4", "|b1", "<V2" …;
/// "" for strings. ml_dtypes saves float8_e5m2 as "<f1", which NumPy then
/// refuses to load; here it is "<V1" like the other small types.
std::string npyDescriptor(DType dtype);

} // namespace tilewright
