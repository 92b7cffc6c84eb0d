//===- CodeImage.h - compiled kernels in memory -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Kernel.h"
#include "tilewright/Status.h"

#include <string>
#include <string_view>

namespace tilewright {

/// Checks that `bytes` are a shared ELF image for x86-64 that imports nothing
/// and runs nothing when it is loaded. Error: ModuleDamaged.
Status checkCodeImage(std::string_view bytes);

/// A code image, loaded. Kernels stay valid as long as it lives.
class CodeImage {
public:
  /// Checks and loads. Errors: ModuleDamaged, ModuleUnreadable (the system
  /// refuses to load code from memory).
  static Result<CodeImage> load(std::string_view bytes);

  CodeImage() = default;
  CodeImage(CodeImage &&other) noexcept
      : handle(std::exchange(other.handle, nullptr)),
        descriptor(std::exchange(other.descriptor, -1)) {}
  CodeImage &operator=(CodeImage &&other) noexcept {
    std::swap(handle, other.handle);
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~CodeImage();

  /// \returns the kernel of that name, or null.
  KernelFunction find(const std::string &name) const;

private:
  void *handle = nullptr;
  int descriptor = -1;
};

} // namespace tilewright
