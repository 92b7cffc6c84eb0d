//===- ModuleFile.h - a module's bytes --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Memory.h"
#include "runtime/format/module_generated.h"
#include "tilewright/Status.h"

#include <string>

namespace tilewright {

/// The bytes of a module file, mapped or copied, whose header, checksums and
/// FlatBuffer have been verified. What the FlatBuffer says has not been.
class ModuleFile {
public:
  /// Errors: ModuleUnreadable, ModuleDamaged, ModuleVersion.
  static Result<ModuleFile> open(const std::string &path, unsigned threads);
  static Result<ModuleFile> fromBytes(const void *data, size_t size,
                                      unsigned threads);

  ModuleFile(ModuleFile &&other) noexcept;
  ModuleFile &operator=(ModuleFile &&other) noexcept;
  ~ModuleFile();

  const format::Module &root() const { return *module; }

  /// \returns the bytes of a segment, 64-byte aligned, or null when it does not
  /// lie within the payload at such an offset.
  const char *segment(const format::Segment &segment) const;

  size_t size() const { return bytes; }

private:
  ModuleFile() = default;
  Status verify(unsigned threads);
  Status verifyChecksums(unsigned threads) const;

  const char *data = nullptr;
  size_t bytes = 0;
  bool mapped = false;
  Block copy;
  const format::Module *module = nullptr;
};

} // namespace tilewright
