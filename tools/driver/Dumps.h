//===- Dumps.h - the IR after each phase, as files --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A dump is NN-PHASE.mlir, valid input for tilewright-opt and --start-from.
// Large constants lie beside the dumps in constants.bin: for each, its hash
// (32 characters), its size (8 bytes, little-endian) and its bytes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/MLIRContext.h"
#include "runtime/format/module_generated.h"
#include "tilewright/Status.h"
#include "tools/driver/Phases.h"

namespace tilewright {

/// Writes a file into a folder, which is made if need be. Errors:
/// OutputUnwritable.
Status writeFile(const std::string &folder, llvm::StringRef name,
                 llvm::StringRef text);

/// Writes the dump of one phase. Errors: OutputUnwritable.
Status writeDump(const std::string &folder, Phase phase, llvm::StringRef text);

/// Writes the side file with every constant of the context. Errors:
/// OutputUnwritable.
Status writeConstants(const std::string &folder, mlir::MLIRContext &context);

/// Reads the side file beside the dump `path` into the context's store, if it
/// is there. Errors: ModelMalformed.
Status readConstants(const std::string &path, mlir::MLIRContext &context);

/// \returns the plan as lines that begin with `//`.
std::string planAsComment(const format::PlanT &plan);

} // namespace tilewright
