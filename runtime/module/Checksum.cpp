//===- Checksum.cpp - XXH3 ------------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/FileLayout.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t tilewright::checksum(const void *data, size_t size) {
  return XXH3_64bits(data, size);
}
