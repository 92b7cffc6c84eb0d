//===- Locations.cpp - ONNX node names in locations -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/Locations.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright::tw {

Location nodeLocation(MLIRContext *context, StringRef node) {
  return NameLoc::get(StringAttr::get(context, node));
}

static void collect(Location loc, llvm::SetVector<StringAttr> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    names.insert(name.getName());
    return;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations()) {
      collect(part, names);
    }
    return;
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collect(call.getCallee(), names);
  }
}

SmallVector<std::string> nodeNames(Location loc) {
  llvm::SetVector<StringAttr> names;
  collect(loc, names);
  SmallVector<std::string> result;
  for (StringAttr name : names) {
    result.push_back(name.getValue().str());
  }
  return result;
}

Location mergeLocations(MLIRContext *context, ArrayRef<Location> locs) {
  llvm::SetVector<StringAttr> names;
  for (Location loc : locs) {
    collect(loc, names);
  }
  SmallVector<Location> parts;
  for (StringAttr name : names) {
    parts.push_back(NameLoc::get(name));
  }
  return FusedLoc::get(context, parts);
}

} // namespace tilewright::tw
