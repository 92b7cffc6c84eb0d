//===- LinkImage.h - objects to a shared library in memory ------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// Links ELF objects into a shared library that imports nothing. Calls from
/// several threads run one after the other: the linker has global state.
Result<std::vector<uint8_t>>
linkImage(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects);

} // namespace tilewright
