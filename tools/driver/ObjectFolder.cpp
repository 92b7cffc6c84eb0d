//===- ObjectFolder.cpp - compiled kernels on disk ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/ObjectFolder.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

namespace tilewright {

static uint64_t checksumOf(llvm::StringRef object) {
  return llvm::xxh3_64bits(object);
}

ObjectFolder::~ObjectFolder() {
  if (hasStored) {
    files.evict();
  }
}

std::filesystem::path ObjectFolder::userFolder() {
  std::filesystem::path folder = FileCache::userFolder();
  return folder.empty() ? folder : folder.parent_path() / "objects";
}

std::optional<llvm::SmallVector<char, 0>>
ObjectFolder::find(const std::string &fingerprint) {
  auto path = files.find(compiler + "-" + fingerprint);
  if (!path) {
    return std::nullopt;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path->string(), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  uint64_t checksum = 0;
  if (!buffer || (*buffer)->getBufferSize() <= sizeof checksum) {
    return std::nullopt;
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  std::memcpy(&checksum, bytes.data(), sizeof checksum);
  llvm::StringRef object = bytes.drop_front(sizeof checksum);
  if (checksumOf(object) != checksum) {
    return std::nullopt;
  }
  return llvm::SmallVector<char, 0>(object.begin(), object.end());
}

void ObjectFolder::store(const std::string &fingerprint,
                         llvm::ArrayRef<char> object) {
  llvm::StringRef bytes(object.data(), object.size());
  uint64_t checksum = checksumOf(bytes);
  std::string entry(reinterpret_cast<const char *>(&checksum), sizeof checksum);
  entry += bytes;
  files.store(compiler + "-" + fingerprint, entry);
  hasStored = true;
}

} // namespace tilewright
