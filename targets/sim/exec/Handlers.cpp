//===- Handlers.cpp - the handlers that this machine can run
//---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/exec/Handlers.h"

#include <cstdlib>
#include <cstring>

using namespace tilewright::sim;

namespace tilewright::sim {
namespace portable {
extern const Handlers levelHandlers;
}
#ifdef TW_SIM_X86_LEVELS
namespace avx2 {
extern const Handlers levelHandlers;
}
namespace avx512 {
extern const Handlers levelHandlers;
}
#endif
} // namespace tilewright::sim

/// Whether the environment asks for that level or for none; see
/// docs/design/simulator.md.
static bool isWanted(const char *level) {
  const char *wanted = std::getenv("TILEWRIGHT_SIM_LEVEL");
  return !wanted || std::strcmp(wanted, level) == 0;
}

static const Handlers &choose() {
#ifdef TW_SIM_X86_LEVELS
  bool hasAvx2 = __builtin_cpu_supports("avx2") &&
                 __builtin_cpu_supports("fma") &&
                 __builtin_cpu_supports("bmi2");
  bool hasAvx512 = hasAvx2 && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512cd");
  if (hasAvx512 && isWanted("avx512")) {
    return avx512::levelHandlers;
  }
  if (hasAvx2 && isWanted("avx2")) {
    return avx2::levelHandlers;
  }
#endif
  return portable::levelHandlers;
}

const Handlers &tilewright::sim::handlers() {
  static const Handlers &chosen = choose();
  return chosen;
}
