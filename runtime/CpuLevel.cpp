//===- CpuLevel.cpp - which instructions a processor has ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Bits from the Intel 64 and IA-32 manual, volume 2, CPUID, and volume 1,
// chapter 13 (XCR0).
//
//===----------------------------------------------------------------------===//

#include "tilewright/CpuLevel.h"

#include <cpuid.h>
#include <cstdint>

using namespace tilewright;

static constexpr const char *names[] = {"x86-64-v2", "avx2", "avx512"};

const char *tilewright::nameOf(CpuLevel level) {
  return names[static_cast<int>(level)];
}

std::optional<CpuLevel> tilewright::cpuLevelFromName(std::string_view name) {
  for (int i = 0; i < 3; ++i) {
    if (name == names[i]) {
      return static_cast<CpuLevel>(i);
    }
  }
  return std::nullopt;
}

static bool hasAll(unsigned word, std::initializer_list<unsigned> bits) {
  for (unsigned bit : bits) {
    if (!((word >> bit) & 1)) {
      return false;
    }
  }
  return true;
}

/// \returns XCR0: which registers the operating system saves.
static uint64_t savedRegisters() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

static std::optional<CpuLevel> detect() {
  unsigned a = 0, b = 0, c1 = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c1, &d)) {
    return std::nullopt;
  }
  // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT
  if (!hasAll(c1, {0, 9, 13, 19, 20, 23})) {
    return std::nullopt;
  }
  // FMA, MOVBE, OSXSAVE, AVX, F16C
  if (!hasAll(c1, {12, 22, 27, 28, 29})) {
    return CpuLevel::V2;
  }
  uint64_t saved = savedRegisters();
  unsigned b7 = 0, c = 0, lzcnt = 0;
  bool leaves = __get_cpuid_count(7, 0, &a, &b7, &c, &d) &&
                __get_cpuid(0x80000001, &a, &b, &lzcnt, &d);
  // BMI1, AVX2, BMI2; LZCNT; XMM and YMM state
  if (!leaves || !hasAll(b7, {3, 5, 8}) || !hasAll(lzcnt, {5}) ||
      (saved & 0x6) != 0x6) {
    return CpuLevel::V2;
  }
  // AVX-512 F, DQ, CD, BW, VL; mask and ZMM state
  if (!hasAll(b7, {16, 17, 28, 30, 31}) || (saved & 0xe6) != 0xe6) {
    return CpuLevel::Avx2;
  }
  return CpuLevel::Avx512;
}

std::optional<CpuLevel> tilewright::hostCpuLevel() {
  static const std::optional<CpuLevel> level = detect();
  return level;
}
