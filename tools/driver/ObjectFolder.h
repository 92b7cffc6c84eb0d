//===- ObjectFolder.h - compiled kernels on disk ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cpu/ObjectCache.h"
#include "tools/driver/FileCache.h"

#include <atomic>

namespace tilewright {

/// The object code of kernels in a folder, one file each: a checksum and the
/// object. What is damaged counts as absent.
class ObjectFolder : public ObjectCache {
public:
  static constexpr uint64_t defaultLimit = uint64_t(256) << 20;

  /// With an empty `folder` nothing is found or kept. `compiler` is a hash of
  /// the compiler, whose objects alone are taken.
  ObjectFolder(std::filesystem::path folder, std::string compiler)
      : files(std::move(folder), ".o", defaultLimit),
        compiler(std::move(compiler)) {}
  /// Removes what is too much, if something was stored.
  ~ObjectFolder() override;

  /// \returns the user's folder, tilewright/objects beside that of compiled
  /// models; empty when it is not known.
  static std::filesystem::path userFolder();

  std::optional<llvm::SmallVector<char, 0>>
  find(const std::string &fingerprint) override;
  void store(const std::string &fingerprint,
             llvm::ArrayRef<char> object) override;

private:
  FileCache files;
  std::string compiler;
  std::atomic<bool> hasStored{false};
};

} // namespace tilewright
