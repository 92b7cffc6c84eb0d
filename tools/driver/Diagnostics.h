//===- Diagnostics.h - MLIR's diagnostics as a Status -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tilewright/Status.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tilewright {

/// Collects the errors that MLIR reports while it lives, so that they become
/// the message of a Status instead of text on standard error.
class CollectedDiagnostics {
public:
  explicit CollectedDiagnostics(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
            llvm::raw_string_ostream os(text);
            os << (text.empty() ? "" : "; ") << diagnostic.getLocation() << ": "
               << diagnostic;
          }
          return mlir::success();
        }) {}

  /// \returns what was collected as an error: "`what`: …".
  Status status(ErrorCode code, const std::string &what) const {
    return Status(code, what + (text.empty() ? "" : ": " + text));
  }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tilewright
