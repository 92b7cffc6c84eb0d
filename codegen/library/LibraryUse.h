//===- LibraryUse.h - what a library is used for ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

namespace tilewright {

/// Which of the regions that a library can compute it gets.
enum class LibraryUse {
  Auto,  ///< those that it should compute faster
  Never, ///< none
  Always ///< all
};

} // namespace tilewright
