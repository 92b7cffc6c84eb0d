//===- ObjectCode.h - LLVM dialect to object code ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/TargetSpec.h"
#include "tilewright/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace tilewright {

/// \returns LLVM's code generator for `target`: position-independent, without
/// any contraction of floating-point operations.
Result<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const TargetSpec &target);

/// The object code of a module, and the texts on the way when asked for.
struct ObjectCode {
  llvm::SmallVector<char, 0> bytes;
  std::string llvmIr;
  std::string assembly;
};

/// Translates `module`, which is in the LLVM dialect, optimises it and emits an
/// ELF object. Fails when the object needs a symbol from elsewhere.
/// \param keepTexts fill in `llvmIr` and `assembly`.
Result<ObjectCode> emitObjectCode(mlir::ModuleOp module,
                                  const TargetSpec &target,
                                  llvm::TargetMachine &machine, bool keepTexts);

} // namespace tilewright
