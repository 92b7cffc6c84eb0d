//===- CpuLevel.h - which instructions a processor has ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <optional>
#include <string_view>

namespace tilewright {

/// Levels of the x86-64 instruction set, each including the ones before.
enum class CpuLevel {
  V2,    ///< x86-64-v2: SSE4.2, POPCNT, SSSE3
  Avx2,  ///< x86-64-v3: AVX2, FMA, F16C, BMI1, BMI2
  Avx512 ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

/// \returns "x86-64-v2", "avx2" or "avx512".
const char *nameOf(CpuLevel level);

/// \returns the level with that name, if there is one.
std::optional<CpuLevel> cpuLevelFromName(std::string_view name);

/// \returns the highest level whose instructions this processor has and whose
/// registers the operating system saves; nothing below x86-64-v2.
std::optional<CpuLevel> hostCpuLevel();

} // namespace tilewright
