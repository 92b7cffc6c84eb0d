//===- MappedFile.cpp - a file in memory ------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

Result<std::shared_ptr<const MappedFile>>
MappedFile::open(const std::filesystem::path &path) {
  auto failed = [&](const std::string &why) {
    return Status(ErrorCode::ExternalData,
                  "cannot read external data '" + path.string() + "': " + why);
  };
  int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) {
    return failed(std::strerror(errno));
  }
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return failed("it is not a regular file");
  }
  auto size = static_cast<size_t>(info.st_size);
  const std::byte *bytes = nullptr;
  if (size != 0) {
    void *mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) {
      int error = errno;
      ::close(descriptor);
      return failed(std::strerror(error));
    }
    bytes = static_cast<const std::byte *>(mapped);
  }
  ::close(descriptor);
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes, size));
}

MappedFile::~MappedFile() {
  if (bytes != nullptr) {
    ::munmap(const_cast<std::byte *>(bytes), length);
  }
}

} // namespace tilewright
