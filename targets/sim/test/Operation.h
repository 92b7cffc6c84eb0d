//===- Operation.h - one instruction on many operands ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/test/Harness.h"

#include <cmath>
#include <functional>

namespace tilewright::sim::test {

/// Runs lines of PTX for each triple of operands. They read a, b, c in
/// registers %a %b %c (32 bits), %A %B %C (64 bits), %ah %bh %ch (16 bits), the
/// predicate %p (a's lowest bit), and write %d, %D, %dh or %q. %r0 to %r9 and
/// %R0 to %R9 are free.
struct Operands {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
};

enum class Kind { Word, Long, Short, Predicate };

/// \returns the result of each triple. Runs the lines once for all lanes and
/// once under a guard for half of them, whose other lanes must keep what they
/// had; lines that are guarded themselves say so with `plain`.
std::vector<uint64_t> evaluate(const std::string &lines, Kind kind,
                               const std::vector<Operands> &operands,
                               bool plain = false,
                               const ExecuteOptions *options = nullptr);

/// Compares with `expected` for all triples of edge values and random ones.
using Reference = std::function<uint64_t(const Operands &)>;
void check(const std::string &lines, Kind kind,
           const std::vector<Operands> &operands, const Reference &expected);

/// Triples of the values, and as many random bits.
std::vector<Operands> combine(const std::vector<uint64_t> &values,
                              unsigned random = 200);
std::vector<uint64_t> integerEdges();
std::vector<uint64_t> floatEdges();
std::vector<uint64_t> doubleEdges();
std::vector<uint64_t> halfEdges();
std::vector<uint64_t> bfloatEdges();

} // namespace tilewright::sim::test
