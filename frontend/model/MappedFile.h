//===- MappedFile.h - a file in memory --------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstddef>
#include <filesystem>
#include <memory>

namespace tilewright {

/// A regular file, mapped read-only for as long as the object lives.
class MappedFile {
public:
  /// Opens `path`, which must be no symbolic link. Errors: ExternalData.
  static Result<std::shared_ptr<const MappedFile>>
  open(const std::filesystem::path &path);

  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  const std::byte *data() const { return bytes; }
  size_t size() const { return length; }

private:
  MappedFile(const std::byte *bytes, size_t length)
      : bytes(bytes), length(length) {}
  const std::byte *bytes;
  size_t length;
};

} // namespace tilewright
