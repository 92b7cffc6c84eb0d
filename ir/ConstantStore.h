//===- ConstantStore.h - bytes of constants by content ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Large constants live outside the IR. A `#tw.blob<"hash">` names bytes that
// this store holds or merely points to (a mapped file), so that weights are
// neither copied nor uniqued by MLIR.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::tw {

class ConstantStore {
public:
  /// Adds `bytes`, which `owner` keeps alive. \returns the content hash (32
  /// hexadecimal digits of XXH3-128). Equal bytes are kept once.
  std::string add(llvm::ArrayRef<char> bytes,
                  std::shared_ptr<const void> owner);
  /// Adds bytes that the store is to own.
  std::string add(std::vector<char> bytes);
  /// \returns the bytes behind `hash`, nullopt if there are none.
  std::optional<llvm::ArrayRef<char>> find(llvm::StringRef hash) const;

  /// Calls `visit` with every constant, in the order of their hashes.
  void forEach(
      llvm::function_ref<void(llvm::StringRef hash, llvm::ArrayRef<char> bytes)>
          visit) const;

private:
  struct Entry {
    llvm::ArrayRef<char> bytes;
    std::shared_ptr<const void> owner;
  };
  mutable std::mutex mutex;
  llvm::StringMap<Entry> entries;
};

} // namespace tilewright::tw
