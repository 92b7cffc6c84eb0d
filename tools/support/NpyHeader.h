//===- NpyHeader.h - the beginning of a .npy file ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tilewright {

/// What the dictionary at the beginning of a .npy file says.
struct NpyHeader {
  std::string descriptor; // "<f4"
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the dictionary, a Python literal such as
/// "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
/// \returns the header, or what is wrong with the text.
std::variant<NpyHeader, std::string> parseNpyHeader(std::string_view text);

} // namespace tilewright
