//===- ObjectCache.cpp - what names the object code of a kernel -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ObjectCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace tilewright {

std::string fingerprintOf(twk::KernelOp kernel, const TargetSpec &target,
                          bool keepDenormals) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << target.name << keepDenormals;
  // Without locations: the nodes that a kernel stands for do not change it.
  kernel->print(os, OpPrintingFlags().useLocalScope());
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, /*Width=*/16) +
         llvm::utohexstr(hash.low64, /*LowerCase=*/true, /*Width=*/16);
}

} // namespace tilewright
