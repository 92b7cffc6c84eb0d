//===- Level.cpp - handlers of one instruction set ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/lanes/Level.h"

using namespace tilewright::sim;

const Handlers tilewright::sim::TW_SIM_LEVEL::levelHandlers = {
    aluHandler,  compareHandler, convertHandler,
    loadHandler, storeHandler,   mmaHandler,
};
