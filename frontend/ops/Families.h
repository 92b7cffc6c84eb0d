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
OperatorFamily controlFlowOperators();
OperatorFamily convOperators();
OperatorFamily convTransposeOperators();
OperatorFamily createOperators();
OperatorFamily deformConvOperators();
OperatorFamily dropoutOperators();
OperatorFamily einsumOperators();
OperatorFamily fourierOperators();
OperatorFamily gatherOperators();
OperatorFamily gridSampleOperators();
OperatorFamily integerProductOperators();
OperatorFamily irregularOperators();
OperatorFamily logicOperators();
OperatorFamily matmulOperators();
OperatorFamily movementOperators();
OperatorFamily normalizationOperators();
OperatorFamily padOperators();
OperatorFamily poolOperators();
OperatorFamily quantizeOperators();
OperatorFamily randomOperators();
OperatorFamily recurrentOperators();
OperatorFamily reduceOperators();
OperatorFamily resizeOperators();
OperatorFamily roiAlignOperators();
OperatorFamily scanOperators();
OperatorFamily scatterOperators();
OperatorFamily shapeOperators();
OperatorFamily sliceOperators();
OperatorFamily unaryOperators();
OperatorFamily unpoolOperators();

} // namespace tilewright::frontend
