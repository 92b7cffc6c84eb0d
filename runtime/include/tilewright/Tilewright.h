//===- Tilewright.h - the whole runtime API ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Context.h"
#include "tilewright/CpuLevel.h"
#include "tilewright/DType.h"
#include "tilewright/Module.h"
#include "tilewright/Status.h"
#include "tilewright/Tensor.h"
