//===- LinkImage.cpp - objects to a shared library in memory --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/LinkImage.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace tilewright {

namespace {
Status internal(const Twine &message) {
  return Status(ErrorCode::Internal, message.str());
}

/// A folder for temporary files that is removed at the end.
class TemporaryFolder {
public:
  ~TemporaryFolder() {
    if (!path.empty()) {
      sys::fs::remove_directories(path);
    }
  }
  Status create() {
    if (std::error_code error =
            sys::fs::createUniqueDirectory("tilewright", path)) {
      path.clear();
      return internal("cannot make a temporary folder: " + error.message());
    }
    return Status::ok();
  }
  std::string file(const Twine &name) const {
    SmallString<128> result(path);
    sys::path::append(result, name);
    return std::string(result);
  }

private:
  SmallString<128> path;
};

Status writeFile(const std::string &path, ArrayRef<char> bytes) {
  std::error_code error;
  raw_fd_ostream stream(path, error);
  if (!error) {
    stream.write(bytes.data(), bytes.size());
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  return error ? internal("cannot write " + path + ": " + error.message())
               : Status::ok();
}

Status runLinker(ArrayRef<const char *> arguments) {
  static std::mutex mutex;
  static bool canRun = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!canRun) {
    return internal(
        "the linker crashed earlier in this process and cannot run again");
  }
  std::string output;
  raw_string_ostream stream(output);
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  canRun = result.canRunAgain;
  return result.retCode == 0 ? Status::ok()
                             : internal("linking failed: " + output);
}
} // namespace

Result<std::vector<uint8_t>> linkImage(ArrayRef<SmallVector<char, 0>> objects) {
  TemporaryFolder folder;
  TW_RETURN_IF_ERROR(folder.create());
  std::vector<std::string> paths;
  for (const SmallVector<char, 0> &object : objects) {
    paths.push_back(folder.file(Twine(paths.size()) + ".o"));
    TW_RETURN_IF_ERROR(writeFile(paths.back(), object));
  }
  std::string image = folder.file("image.so");
  std::vector<const char *> arguments = {
      "ld.lld",        "-shared",     "-Bsymbolic",      "--no-undefined",
      "--gc-sections", "--threads=1", "--build-id=none", "--hash-style=gnu",
      "-znoexecstack", "-znow",       "-soname=kernels", "-o",
      image.c_str()};
  for (const std::string &path : paths) {
    arguments.push_back(path.c_str());
  }
  TW_RETURN_IF_ERROR(runLinker(arguments));
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(image);
  if (!file) {
    return internal("cannot read the linked image: " +
                    file.getError().message());
  }
  StringRef bytes = (*file)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

} // namespace tilewright
