//===- ModuleWriter.h - making module files ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// What the compiler calls at the end. The same input gives the same bytes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/format/module_generated.h"
#include "tilewright/Status.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// The bytes of one kernel for CUDA. Empty where there are none.
struct DeviceCode {
  std::string_view cubin;
  std::string_view ptx;
  std::string_view source;
};

/// A module and the bytes that its segments get. The views must outlive the
/// call that writes them. The writer fills in `format_version` and all
/// `Segment`s.
struct ModuleContents {
  format::ModuleT *module = nullptr;
  std::vector<std::string_view> constants; ///< one per module->constants
  std::vector<std::string_view> code;      ///< one per module->variants; may be
                                           ///< empty where nothing is compiled
  /// One list per module->variants, with one entry per `device_kernels` of that
  /// variant; may be empty where no variant is for CUDA.
  std::vector<std::vector<DeviceCode>> deviceCode;
};

/// \returns the bytes of the module file. Errors: Internal (the lists do not
/// match, or the description exceeds what a FlatBuffer holds), OutOfMemory.
Result<std::vector<std::byte>> moduleToBytes(const ModuleContents &contents);

/// Writes the module file through a temporary file beside it, which takes its
/// place at the end: there never is a partial file of that name.
/// Errors: as above, OutputUnwritable.
Status writeModule(const ModuleContents &contents, const std::string &path);

} // namespace tilewright
