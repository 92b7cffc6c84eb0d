//===- DroppedTiles.cpp - tiles that turned out not to fit ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/tile/DroppedTiles.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilewright {

static constexpr llvm::StringLiteral droppedAttr = "dropped_tiles";

static ArrayRef<Attribute> droppedTiles(tw::FusedOp region) {
  auto tiles = region->getAttrOfType<ArrayAttr>(droppedAttr);
  return tiles ? tiles.getValue() : ArrayRef<Attribute>();
}

bool isDropped(tw::FusedOp region, DictionaryAttr parameters) {
  return llvm::is_contained(droppedTiles(region), parameters);
}

static std::string textOf(Attribute parameters) {
  std::string text;
  llvm::raw_string_ostream(text) << parameters;
  return text;
}

/// \returns what the tactic chooses now; null: nothing that was not dropped.
static Result<DictionaryAttr> chooseAgain(tw::FusedOp region,
                                          const Tactic &tactic,
                                          const TargetSpec &target) {
  Result<DictionaryAttr> chosen = tactic.choose(region, target);
  TW_RETURN_IF_ERROR(chosen.status());
  return isDropped(region, *chosen) ? DictionaryAttr() : *chosen;
}

Result<bool> dropTile(tw::FusedOp region, const TargetSpec &target,
                      const TacticRegistry &registry, uint32_t spilledBytes,
                      DecisionLog &log) {
  const Tactic *tactic = registry.find(region);
  if (!tactic) {
    return false;
  }
  Attribute tile = *region.getTactic();
  SmallVector<Attribute> dropped(droppedTiles(region));
  if (llvm::is_contained(dropped, tile)) {
    return false;
  }
  dropped.push_back(tile);
  region->setAttr(droppedAttr, ArrayAttr::get(region.getContext(), dropped));
  Result<DictionaryAttr> chosen = chooseAgain(region, *tactic, target);
  TW_RETURN_IF_ERROR(chosen.status());
  std::string what = "region " + region.getSymName().str() + ": " +
                     textOf(tile) + " spills " + std::to_string(spilledBytes) +
                     " bytes of each thread; ";
  if (!*chosen) {
    region.setTacticAttr(dropped.front());
    log.refused("TWT011", region.getLoc(),
                what + "no other tile is left, so that it has " +
                    textOf(dropped.front()));
    return dropped.front() != tile;
  }
  region.setTacticAttr(*chosen);
  log.did("TWT010", region.getLoc(), what + "now " + textOf(*chosen));
  return true;
}

} // namespace tilewright
