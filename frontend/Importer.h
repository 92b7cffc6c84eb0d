//===- Importer.h - an ONNX model as a module of `tw` -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/model/Model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilewright/Status.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::frontend {

struct ImportOptions {
  /// Sizes that a caller fixes, by input; -1 leaves an axis as the model has
  /// it. A symbol that is fixed on one axis is fixed wherever it stands.
  std::map<std::string, std::vector<int64_t>> shapes;
};

/// Builds `func.func @main` in a new module. Arguments and results have the
/// attribute `tw.name`, their ONNX name. The function's attribute
/// `tw.defaulted` lists the inputs that have a default value in the model: they
/// are constants here. `model` lives as long as a constant of `context` points
/// into it. Errors: InputName, InputShape, Unsupported…, and those of the
/// operators, each of which names the node.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context,
            std::shared_ptr<const LoadedModel> model,
            const ImportOptions &options = {});

} // namespace tilewright::frontend
