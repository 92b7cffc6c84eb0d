//===- Model.h - a loaded and checked ONNX model ----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// loadModel() is the only way into the importer. What it returns has passed
// every check that needs no knowledge of our own operators:
//
// - every graph (also If, Loop and Scan bodies and model-local functions) is
//   topologically sorted, every name is defined once and before its use;
// - every operator of a known domain exists in its opset, with attributes of
//   the right types and an allowed number of operands;
// - every initializer and tensor attribute has a known element type, sizes that
//   do not overflow, and exactly the bytes that they ask for;
// - external data lies inside the model's folder and is mapped into memory;
// - model-local functions do not recurse;
// - every node has a name: nodeName() has been written into those without;
// - ONNX's shape inference has filled value_info as far as it could.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/model/Names.h"
#include "tilewright/Status.h"

#include "onnx/onnx_pb.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace onnx {
class OpSchema;
} // namespace onnx

namespace tilewright {

/// Operator set versions by domain; "" is ONNX's own ("ai.onnx" is the same).
/// The body of a function has its own imports, so this goes with every node.
using OpsetImports = std::map<std::string, int64_t>;

/// \returns the imports of a model or a function, domains in canonical form.
OpsetImports importsOf(const onnx::ModelProto &model);
OpsetImports importsOf(const onnx::FunctionProto &function);

/// \returns "" for "ai.onnx", else `domain` itself.
std::string canonicalDomain(const std::string &domain);

/// \returns the schema of `node`'s operator at the imported version, or null.
/// `schemaOf(…)->since_version()` is what the importer dispatches on.
const onnx::OpSchema *schemaOf(const onnx::NodeProto &node,
                               const OpsetImports &opsets);

/// A tensor's elements in the runtime's layout: little-endian, dense, one byte
/// per element for types of 8 bits and less (so 4-bit elements are unpacked
/// into the low bits, not sign-extended).
struct ConstantBytes {
  const std::byte *data = nullptr;
  size_t size = 0;
  /// Keeps `data` alive where it is neither in a TensorProto nor in a mapping
  /// of the LoadedModel; may be null.
  std::shared_ptr<const void> owner;
};

/// A node's operator written as nodes: what expandFunction() returns.
struct ExpandedFunction {
  /// In topological order, with attributes substituted. Results that are the
  /// node's own outputs have the node's output names; all other values have
  /// unique names beginning with the node's first output and "::". Optional
  /// inputs that the node leaves out are empty names. Node names are
  /// "outer/inner".
  std::vector<onnx::NodeProto> nodes;
  /// The operator sets that `nodes` are written in.
  OpsetImports opsets;
};

class MappedFile;

/// A model that passed the checks above. Cheap to move; const use from several
/// threads is safe.
class LoadedModel {
public:
  const onnx::ModelProto &proto() const { return *model; }
  onnx::ModelProto &proto() { return *model; }
  const onnx::GraphProto &graph() const { return model->graph(); }

  /// The folder that external data must lie in.
  const std::filesystem::path &folder() const { return modelFolder; }

  /// \returns the elements of `tensor`: an initializer, an attribute of a node,
  /// or one in an expanded body. Points into `tensor` where it can. Strings
  /// have no such form: use `tensor.string_data()`. Errors: ConstantInvalid,
  /// ExternalData, UnsupportedType.
  Result<ConstantBytes> data(const onnx::TensorProto &tensor) const;

  /// \returns the model's version of `domain`, or 0 when it is not imported.
  int64_t opset(const std::string &domain) const;
  const OpsetImports &opsets() const { return imports; }

  /// \returns the model-local function that `node` calls, or null.
  const onnx::FunctionProto *function(const onnx::NodeProto &node) const;

  /// \returns whether expandFunction() has a body for `node`.
  bool hasFunction(const onnx::NodeProto &node,
                   const OpsetImports &opsets) const;

  /// Writes `node` as the nodes of its function body: a model-local function,
  /// or ONNX's definition of the operator. Many of ONNX's bodies depend on the
  /// operands' types: give one TypeProto per input of the node (an empty one
  /// where the input is left out). Subgraph attributes are carried along.
  /// Errors: UnsupportedOperator when there is no body, ModelInvalid when the
  /// call does not fit it.
  Result<ExpandedFunction>
  expandFunction(const onnx::NodeProto &node, const OpsetImports &opsets,
                 const std::vector<onnx::TypeProto> &inputTypes) const;

  /// \returns whether the input `name` has an initializer as its default, so
  /// that a caller may leave it out. Before IR 4 every initializer was an
  /// input; those are constants unless a caller says otherwise.
  bool hasDefault(std::string_view name) const;

private:
  friend class ModelLoader;
  std::unique_ptr<onnx::ModelProto> model;
  std::filesystem::path modelFolder;
  OpsetImports imports;
  std::vector<std::string> defaultedInputs;
  /// By canonical path.
  std::map<std::string, std::shared_ptr<const MappedFile>> mappings;
};

/// Reads, parses and checks the model at `path`. Errors: ModelUnreadable,
/// ModelMalformed, ModelInvalid, ExternalData, ConstantInvalid,
/// GraphNotSorted, ShapeMismatch, TypeMismatch, AttributeInvalid,
/// UnsupportedOperator.
Result<LoadedModel> loadModel(const std::filesystem::path &path);

/// The same checks on a model in memory; external data is looked for in
/// `folder`, and refused when that is empty.
Result<LoadedModel> loadModel(onnx::ModelProto model,
                              const std::filesystem::path &folder = {});

} // namespace tilewright
