//===- main.cpp - tilewright-lsp-server -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Editor support for .mlir files in Tilewright's dialects.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/driver/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tilewright::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
