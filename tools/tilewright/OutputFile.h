//===- OutputFile.h - files that appear complete or not at all --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <filesystem>
#include <string_view>

namespace tilewright {

/// Whether writeOutput() could write `path`, to be known before the work that
/// makes its content. Errors: OutputUnwritable.
Status checkWritable(const std::filesystem::path &path);

/// Writes a file through a temporary one beside it, which takes its place at
/// the end. A device such as /dev/null is written as it is.
/// Errors: OutputUnwritable.
Status writeOutput(const std::filesystem::path &path, std::string_view bytes);

/// Makes a folder, and those around it, and checks that files can be made in
/// it. Errors: OutputUnwritable.
Status makeFolder(const std::filesystem::path &path);

} // namespace tilewright
