//===- CodeImage.cpp - compiled kernels in memory -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/CodeImage.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tilewright;

static Status refused(const std::string &why) {
  return Status(ErrorCode::ModuleUnreadable,
                "the system does not load the module's code: " + why);
}

Result<CodeImage> CodeImage::load(std::string_view bytes) {
  TW_RETURN_IF_ERROR(checkCodeImage(bytes));
  // The descriptor stays open as long as the image: the loader recognises what
  // it has loaded by the path, so that no two images may have the same one.
  CodeImage image;
  image.descriptor = memfd_create("tilewright-code", MFD_CLOEXEC);
  if (image.descriptor < 0) {
    return refused(std::strerror(errno));
  }
  while (!bytes.empty()) {
    ssize_t written = ::write(image.descriptor, bytes.data(), bytes.size());
    if (written <= 0 && errno != EINTR) {
      return refused(std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  std::string path = "/proc/self/fd/" + std::to_string(image.descriptor);
  image.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!image.handle) {
    const char *why = dlerror();
    return refused(why ? why : "unknown reason");
  }
  return image;
}

CodeImage::~CodeImage() {
  if (handle) {
    dlclose(handle);
  }
  if (descriptor >= 0) {
    close(descriptor);
  }
}

KernelFunction CodeImage::find(const std::string &name) const {
  void *address = handle ? dlsym(handle, name.c_str()) : nullptr;
  return reinterpret_cast<KernelFunction>(address);
}
