//===- KernelTable.h - what bench says of each kernel -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilewright {

/// \returns a table of `kernel_table`, as the measuring process prints it:
/// launches, time and its share, nodes.
std::string timeTable(const nlohmann::json &kernels);

/// \returns a table of `counted.kernels`: launches, instructions, traffic.
std::string countTable(const nlohmann::json &kernels);

/// \returns "3.3 million lane instructions, 172.2 kB read, …" of
/// `counted.total`.
std::string describeCounts(const nlohmann::json &total);

} // namespace tilewright
