//===- Families.h - the families of operators -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Each family is one file of this folder, which exports its rows. To add a
// family, declare it here and name it in OperatorTable.cpp.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/NodeImport.h"

namespace tilewright::frontend {

OperatorFamily activationOperators();
OperatorFamily argScanOperators();
OperatorFamily arithmeticOperators();
OperatorFamily batchNormOperators();
OperatorFamily castOperators();
OperatorFamily convOperators();
OperatorFamily convTransposeOperators();
OperatorFamily einsumOperators();
OperatorFamily integerProductOperators();
OperatorFamily logicOperators();
OperatorFamily matmulOperators();
OperatorFamily normalizationOperators();
OperatorFamily poolOperators();
OperatorFamily quantizeOperators();
OperatorFamily reduceOperators();
OperatorFamily shapeOperators();
OperatorFamily unaryOperators();

} // namespace tilewright::frontend
