//===- Diagnostics.h - MLIR's diagnostics as a message ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Threading.h"

#include <string>

namespace tilewright {

/// Collects the errors that this thread emits while the object lives. Several
/// threads may each have one on the same context.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context)
      : engine(context->getDiagEngine()), thread(llvm::get_threadid()) {
    id = engine.registerHandler([this](mlir::Diagnostic &diagnostic) {
      if (llvm::get_threadid() != thread) {
        return mlir::failure();
      }
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
        collected += (collected.empty() ? "" : "; ") + diagnostic.str();
      }
      return mlir::success();
    });
  }
  ~DiagnosticCollector() { engine.eraseHandler(id); }
  DiagnosticCollector(const DiagnosticCollector &) = delete;
  DiagnosticCollector &operator=(const DiagnosticCollector &) = delete;

  /// \returns the messages so far, or `fallback` when there are none.
  std::string message(const char *fallback) const {
    return collected.empty() ? fallback : collected;
  }

private:
  mlir::DiagnosticEngine &engine;
  uint64_t thread;
  mlir::DiagnosticEngine::HandlerID id;
  std::string collected;
};

} // namespace tilewright
