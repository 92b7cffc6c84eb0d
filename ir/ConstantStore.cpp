//===- ConstantStore.cpp - bytes of constants by content ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/ConstantStore.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace tilewright::tw {

std::string ConstantStore::add(llvm::ArrayRef<char> bytes,
                               std::shared_ptr<const void> owner) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  std::string name = llvm::formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64);
  std::lock_guard<std::mutex> lock(mutex);
  entries.try_emplace(name, Entry{bytes, std::move(owner)});
  return name;
}

std::string ConstantStore::add(std::vector<char> bytes) {
  auto owned = std::make_shared<const std::vector<char>>(std::move(bytes));
  return add(llvm::ArrayRef(owned->data(), owned->size()), owned);
}

std::optional<llvm::ArrayRef<char>>
ConstantStore::find(llvm::StringRef hash) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = entries.find(hash);
  if (it == entries.end()) {
    return std::nullopt;
  }
  return it->second.bytes;
}

void ConstantStore::forEach(
    llvm::function_ref<void(llvm::StringRef, llvm::ArrayRef<char>)> visit)
    const {
  std::lock_guard<std::mutex> lock(mutex);
  llvm::SmallVector<llvm::StringRef> hashes(entries.keys());
  llvm::sort(hashes);
  for (llvm::StringRef hash : hashes) {
    visit(hash, entries.find(hash)->second.bytes);
  }
}

} // namespace tilewright::tw
