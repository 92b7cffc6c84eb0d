//===- ImportHelpers.h - importing small models in tests --------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Importer.h"
#include "frontend/model/test/ModelBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::test {

/// A value whose sizes are symbols, where a name stands in place of a number.
inline onnx::ValueInfoProto symbolic(const std::string &name,
                                     const Strings &dims,
                                     int type = onnx::TensorProto::FLOAT) {
  onnx::ValueInfoProto result = value(name, {}, type);
  auto *shape = result.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const std::string &dim : dims) {
    bool isNumber = !dim.empty() &&
                    dim.find_first_not_of("0123456789") == std::string::npos;
    if (isNumber) {
      shape->add_dim()->set_dim_value(std::stoll(dim));
    } else {
      shape->add_dim()->set_dim_param(dim);
    }
  }
  return result;
}

/// An initializer of i64 elements.
inline onnx::TensorProto integers(const std::string &name, const Sizes &values,
                                  bool scalar = false) {
  std::string raw(reinterpret_cast<const char *>(values.data()),
                  values.size() * sizeof(int64_t));
  Sizes dims;
  if (!scalar) {
    dims.push_back(values.size());
  }
  return tensor(name, dims, onnx::TensorProto::INT64, raw);
}

/// A model of the graph with initializers added.
inline onnx::ModelProto
modelWith(onnx::GraphProto graph,
          const std::vector<onnx::TensorProto> &initializers,
          int64_t opset = 18) {
  for (const onnx::TensorProto &each : initializers) {
    *graph.add_initializer() = each;
  }
  onnx::ModelProto result = model(graph);
  result.mutable_opset_import(0)->set_version(opset);
  return result;
}

/// What the import of a model gives: its text, the types of its results, or
/// the error.
struct Imported {
  Status status;
  std::string text;
  Strings results;

  bool has(const std::string &part) const {
    return text.find(part) != std::string::npos;
  }
};

inline Imported import(const onnx::ModelProto &built,
                       const frontend::ImportOptions &options = {}) {
  Imported imported;
  Result<LoadedModel> loaded = loadModel(built);
  if (!loaded) {
    imported.status = loaded.status();
    return imported;
  }
  mlir::MLIRContext context;
  auto model = std::make_shared<const LoadedModel>(std::move(*loaded));
  auto module = frontend::importModel(context, model, options);
  if (!module) {
    imported.status = module.status();
    return imported;
  }
  llvm::raw_string_ostream stream(imported.text);
  (*module)->print(stream);
  for (auto function : (*module)->getBody()->getOps<mlir::func::FuncOp>()) {
    for (mlir::Type type : function.getResultTypes()) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      imported.results.push_back(text);
    }
  }
  return imported;
}

/// Expects the import to give results of these types.
inline Imported expectTypes(const onnx::ModelProto &built,
                            const Strings &types) {
  Imported imported = import(built);
  EXPECT_TRUE(imported.status.isOk()) << imported.status.toString();
  EXPECT_EQ(imported.results, types) << imported.text;
  return imported;
}

/// Expects the import, or the load, to fail with `code`, its message to have
/// all of `texts` in it.
inline void expectError(const onnx::ModelProto &built, ErrorCode code,
                        const Strings &texts) {
  Imported imported = import(built);
  EXPECT_EQ(imported.status.code(), code) << imported.status.toString();
  for (const std::string &text : texts) {
    EXPECT_NE(imported.status.message().find(text), std::string::npos)
        << "no '" << text << "' in: " << imported.status.message();
  }
}

} // namespace tilewright::test
