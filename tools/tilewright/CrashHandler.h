//===- CrashHandler.h - a fault of ours as an error -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

namespace tilewright {

/// From now on a crash, a stack overflow and LLVM's fatal errors end the
/// process with an internal error's message and exit code.
void installCrashHandler();

} // namespace tilewright
