//===- Phases.h - the compiler's phases -------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include <array>
#include <optional>

namespace tilewright {

/// The phases in their order; `--stop-after`, `--start-from` and
/// `--dump-phases` go by these.
enum class Phase {
  Import,
  Normalize,
  Quantize,
  Layout,
  Fuse,
  Tile,
  Plan,
  Codegen
};

constexpr std::array<llvm::StringLiteral, 8> phaseNames = {
    "import", "normalize", "quantize", "layout",
    "fuse",   "tile",      "plan",     "codegen"};

inline llvm::StringRef nameOf(Phase phase) {
  return phaseNames[static_cast<size_t>(phase)];
}

inline std::optional<Phase> phaseFromName(llvm::StringRef name) {
  for (size_t i = 0; i < phaseNames.size(); ++i) {
    if (phaseNames[i] == name) {
      return static_cast<Phase>(i);
    }
  }
  return std::nullopt;
}

} // namespace tilewright
