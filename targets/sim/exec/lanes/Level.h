//===- Level.h - handlers of one instruction set ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/exec/Handlers.h"

#ifndef TW_SIM_LEVEL
#define TW_SIM_LEVEL common
#endif

namespace tilewright::sim::TW_SIM_LEVEL {

Handler aluHandler(Alu op, ptx::Type type);
Handler floatHandler(Alu op, ptx::Type type);
Handler compareHandler(Compare op, ptx::Type type);
Handler convertHandler(const ConvertKey &key);
Handler loadHandler(ptx::Type type, unsigned bytes, unsigned vector);
Handler storeHandler(ptx::Type type, unsigned bytes, unsigned vector);
Handler mmaHandler(unsigned k, ptx::Type a, ptx::Type b, ptx::Type accumulator);

/// All of them, for handlers().
extern const Handlers levelHandlers;

} // namespace tilewright::sim::TW_SIM_LEVEL
