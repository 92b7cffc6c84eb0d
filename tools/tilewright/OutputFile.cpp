//===- OutputFile.cpp - files that appear complete or not at all ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tilewright {

static Status unwritable(const fs::path &path, const std::string &why) {
  return Status(ErrorCode::OutputUnwritable,
                "cannot write '" + path.string() + "': " + why);
}

/// Whether something other than a file or a link to one has that name.
static bool isDevice(const fs::path &path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) &&
         !fs::is_directory(status);
}

namespace {

/// A new file beside `path`, removed unless it is committed.
class TemporaryFile {
public:
  explicit TemporaryFile(const fs::path &path)
      : path(path),
        temporary(path.string() + "." + std::to_string(getpid()) + ".part"),
        descriptor(open(temporary.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)),
        code(errno) {}
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    if (descriptor >= 0) {
      close(descriptor);
      unlink(temporary.c_str());
    }
  }

  Status check() const {
    return descriptor >= 0 ? Status::ok() : unwritable(path, strerror(code));
  }
  int get() const { return descriptor; }

  Status commit() {
    if (rename(temporary.c_str(), path.c_str()) != 0) {
      return unwritable(path, strerror(errno));
    }
    close(descriptor);
    descriptor = -1;
    return Status::ok();
  }

private:
  const fs::path &path;
  std::string temporary;
  int descriptor;
  int code;
};

} // namespace

static Status writeAll(const fs::path &path, int descriptor,
                       std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return unwritable(path, strerror(errno));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Status::ok();
}

Status checkWritable(const fs::path &path) {
  std::error_code error;
  if (path.empty() || fs::is_directory(path, error)) {
    return unwritable(path, path.empty() ? "it has no name" : "is a folder");
  }
  if (isDevice(path)) {
    return access(path.c_str(), W_OK) == 0 ? Status::ok()
                                           : unwritable(path, strerror(errno));
  }
  return TemporaryFile(path).check();
}

Status writeOutput(const fs::path &path, std::string_view bytes) {
  if (isDevice(path)) {
    int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
      return unwritable(path, strerror(errno));
    }
    Status status = writeAll(path, descriptor, bytes);
    close(descriptor);
    return status;
  }
  TemporaryFile file(path);
  TW_RETURN_IF_ERROR(file.check());
  TW_RETURN_IF_ERROR(writeAll(path, file.get(), bytes));
  return file.commit();
}

Status makeFolder(const fs::path &path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && !fs::is_directory(path, error)) {
    return unwritable(path, "is not a folder");
  }
  if (error) {
    return unwritable(path, error.message());
  }
  return checkWritable(path / "tilewright");
}

} // namespace tilewright
