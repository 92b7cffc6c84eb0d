//===- Cases.h - the list of node tests -------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"
#include "tools/tilewright/data/Compare.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tilewright::conformance {

/// One of ONNX's node tests, in a folder as make_cases.py writes it.
struct Case {
  std::string name;
  std::filesystem::path folder;
  Tolerance tolerance;
};

/// Reads `folder`/cases.txt. Errors: InputUnreadable.
Result<std::vector<Case>> readCases(const std::filesystem::path &folder);

/// Why a case is expected to fail, by its name.
using Reasons = std::map<std::string, std::string>;

/// Reads lines `NAME  reason`; `#` begins a comment. Errors: InputUnreadable,
/// also for a case without a reason.
Result<Reasons> readReasons(const std::filesystem::path &path);

/// Writes `reasons` below the comment at the head of the file, sorted. Errors:
/// OutputUnwritable.
Status writeReasons(const std::filesystem::path &path, const Reasons &reasons);

} // namespace tilewright::conformance
