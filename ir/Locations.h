//===- Locations.h - ONNX node names in locations ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The importer gives every operation `loc("node name")`. A rewrite that merges
// operations merges their locations, so that profile, decision log and errors
// can name every ONNX node that a kernel covers.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tilewright::tw {

/// \returns the location of an ONNX node.
mlir::Location nodeLocation(mlir::MLIRContext *context, llvm::StringRef node);

/// \returns the ONNX nodes that a location names, each once, in order.
llvm::SmallVector<std::string> nodeNames(mlir::Location loc);

/// \returns a location that names the nodes of all of `locs`, each once.
mlir::Location mergeLocations(mlir::MLIRContext *context,
                              llvm::ArrayRef<mlir::Location> locs);

} // namespace tilewright::tw
