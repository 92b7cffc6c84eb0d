//===- Model.cpp - a loaded and checked ONNX model --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/Model.h"

#include "frontend/model/Checks.h"
#include "frontend/model/ExternalData.h"
#include "frontend/model/MappedFile.h"
#include "frontend/model/ReadModel.h"
#include "frontend/model/TensorData.h"

#include "onnx/defs/schema.h"

#include <algorithm>
#include <new>

namespace tilewright {
namespace {

template <typename Imports> OpsetImports readImports(const Imports &imports) {
  OpsetImports result;
  for (const onnx::OperatorSetIdProto &import : imports) {
    result[canonicalDomain(import.domain())] = import.version();
  }
  return result;
}

/// Every node gets a name, so that locations, messages and what ONNX's own
/// code says agree.
void nameNodes(const std::vector<Body> &bodies) {
  for (const Body &body : bodies) {
    for (onnx::NodeProto &node : *body.nodes) {
      node.set_name(nodeName(node));
    }
  }
}

} // namespace

/// Applies the checks of Checks.h in their order.
class ModelLoader {
public:
  static Result<LoadedModel> load(std::unique_ptr<onnx::ModelProto> proto,
                                  const std::filesystem::path &folder) {
    LoadedModel loaded;
    loaded.model = std::move(proto);
    loaded.modelFolder = folder;
    if (Status status = check(loaded); !status) {
      return status;
    }
    return loaded;
  }

private:
  /// Smaller external data moves into the model, so that shape inference, which
  /// reads no files, sees the sizes, axes and pads among it.
  static constexpr uint64_t maxInlined = 1024;

  static Status check(LoadedModel &loaded) {
    onnx::ModelProto &model = *loaded.model;
    // Models before IR version 3 import nothing and mean version 1.
    if (model.ir_version() < 3 && model.opset_import_size() == 0) {
      model.add_opset_import()->set_version(1);
    }
    TW_RETURN_IF_ERROR(checkVersions(model));
    loaded.imports = importsOf(model);
    Result<std::vector<Body>> bodies = collectBodies(model);
    if (!bodies) {
      return bodies.status();
    }
    nameNodes(*bodies);
    TW_RETURN_IF_ERROR(checkTypes(model, *bodies));
    TW_RETURN_IF_ERROR(checkTensors(*bodies));
    TW_RETURN_IF_ERROR(checkFunctions(model));
    TW_RETURN_IF_ERROR(sortNodes(model));
    TW_RETURN_IF_ERROR(checkOperators(loaded, *bodies));
    for (onnx::TensorProto *tensor : collectTensors(*bodies)) {
      TW_RETURN_IF_ERROR(mapTensor(loaded, *tensor));
    }
    findDefaults(loaded);
    return inferShapes(model, *bodies);
  }

  static Status mapTensor(LoadedModel &loaded, onnx::TensorProto &tensor) {
    if (!isExternal(tensor)) {
      return Status::ok();
    }
    Result<ExternalRange> range = externalRange(tensor);
    if (!range) {
      return range.status();
    }
    std::shared_ptr<const MappedFile> &file = loaded.mappings[range->location];
    if (file == nullptr) {
      Result<std::filesystem::path> path =
          resolveExternal(tensor, *range, loaded.modelFolder);
      if (!path) {
        return path.status();
      }
      auto mapped = MappedFile::open(*path);
      if (!mapped) {
        return Status(mapped.status().code(),
                      "tensor '" + tensor.name() +
                          "': " + mapped.status().message());
      }
      file = *mapped;
    }
    Result<uint64_t> needed = storedBytes(tensor);
    if (!needed) {
      return needed.status();
    }
    TW_RETURN_IF_ERROR(
        checkExternalRange(tensor, *range, file->size(), *needed));
    if (*needed <= maxInlined) {
      const auto *bytes = reinterpret_cast<const char *>(file->data());
      tensor.set_raw_data(
          *needed == 0 ? "" : std::string(bytes + range->offset, *needed));
      tensor.clear_external_data();
      tensor.clear_data_location();
    }
    return Status::ok();
  }

  static void findDefaults(LoadedModel &loaded) {
    const onnx::GraphProto &graph = loaded.model->graph();
    std::vector<std::string> inputs;
    for (const onnx::ValueInfoProto &input : graph.input()) {
      inputs.push_back(input.name());
    }
    std::sort(inputs.begin(), inputs.end());
    for (const onnx::TensorProto &tensor : graph.initializer()) {
      if (std::binary_search(inputs.begin(), inputs.end(), tensor.name())) {
        loaded.defaultedInputs.push_back(tensor.name());
      }
    }
    std::sort(loaded.defaultedInputs.begin(), loaded.defaultedInputs.end());
  }
};

std::string canonicalDomain(const std::string &domain) {
  return domain == "ai.onnx" ? "" : domain;
}

OpsetImports importsOf(const onnx::ModelProto &model) {
  return readImports(model.opset_import());
}

OpsetImports importsOf(const onnx::FunctionProto &function) {
  return readImports(function.opset_import());
}

const onnx::OpSchema *schemaOf(const onnx::NodeProto &node,
                               const OpsetImports &opsets) {
  std::string domain = canonicalDomain(node.domain());
  auto import = opsets.find(domain);
  if (import == opsets.end()) {
    return nullptr;
  }
  return onnx::OpSchemaRegistry::Schema(
      node.op_type(), static_cast<int>(import->second), domain);
}

int64_t LoadedModel::opset(const std::string &domain) const {
  auto import = imports.find(canonicalDomain(domain));
  return import == imports.end() ? 0 : import->second;
}

const onnx::FunctionProto *
LoadedModel::function(const onnx::NodeProto &node) const {
  for (const onnx::FunctionProto &function : model->functions()) {
    if (function.name() == node.op_type() &&
        canonicalDomain(function.domain()) == canonicalDomain(node.domain()) &&
        function.overload() == node.overload()) {
      return &function;
    }
  }
  return nullptr;
}

bool LoadedModel::hasDefault(std::string_view name) const {
  return std::binary_search(defaultedInputs.begin(), defaultedInputs.end(),
                            name);
}

Result<ConstantBytes> LoadedModel::data(const onnx::TensorProto &tensor) const {
  // Tensors of the model have passed these checks; ones in the bodies of ONNX's
  // functions, or made by the caller, have not.
  TW_RETURN_IF_ERROR(checkTensorData(tensor));
  if (!isExternal(tensor)) {
    return tensorData(tensor, nullptr);
  }
  Result<ExternalRange> range = externalRange(tensor);
  if (!range) {
    return range.status();
  }
  auto file = mappings.find(range->location);
  if (file == mappings.end()) {
    return Status(ErrorCode::ExternalData,
                  "external data of tensor '" + tensor.name() +
                      "' is not among that of the model");
  }
  Result<uint64_t> needed = storedBytes(tensor);
  if (!needed) {
    return needed.status();
  }
  TW_RETURN_IF_ERROR(
      checkExternalRange(tensor, *range, file->second->size(), *needed));
  static const std::byte nothing{};
  return tensorData(
      tensor, *needed == 0 ? &nothing : file->second->data() + range->offset);
}

Result<LoadedModel> loadModel(const std::filesystem::path &path) try {
  Result<std::unique_ptr<onnx::ModelProto>> model = readModel(path);
  if (!model) {
    return model.status();
  }
  std::filesystem::path folder = path.parent_path();
  return ModelLoader::load(std::move(*model), folder.empty() ? "." : folder);
} catch (const std::bad_alloc &) {
  return Status(ErrorCode::OutOfMemory,
                "not enough memory to load '" + path.string() + "'");
}

Result<LoadedModel> loadModel(onnx::ModelProto model,
                              const std::filesystem::path &folder) try {
  return ModelLoader::load(std::make_unique<onnx::ModelProto>(std::move(model)),
                           folder);
} catch (const std::bad_alloc &) {
  return Status(ErrorCode::OutOfMemory, "not enough memory to load the model");
}

} // namespace tilewright
