//===- SimtTactics.cpp - the tactics for GPUs -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/SimtTactics.h"
#include "codegen/families/ReferenceTactic.h"

using namespace mlir;

namespace tilewright::families {

namespace {

struct Tactics {
  ReferenceTactic reference{"reference.simt", /*wide=*/false};

  std::vector<const Tactic *> all = {&reference};
};

} // namespace

static const Tactics &tactics() {
  static const Tactics instance;
  return instance;
}

ArrayRef<const Tactic *> simtTacticsFor(Form) { return tactics().all; }

ArrayRef<const Tactic *> allSimtTactics() { return tactics().all; }

} // namespace tilewright::families
