//===- main.cpp - tilewright-opt ------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Runs passes on textual IR, for pass developers and for lit.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/driver/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tilewright::registerDialects(registry);
  tilewright::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Tilewright's optimizer driver\n", registry));
}
