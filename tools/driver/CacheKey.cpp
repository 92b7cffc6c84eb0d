//===- CacheKey.cpp - everything that a compile depends on ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codegen/cuda/Nvrtc.h"
#include "frontend/model/ExternalData.h"
#include "frontend/model/MappedFile.h"
#include "frontend/model/ReadModel.h"
#include "tools/driver/ModuleCache.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>
#include <set>

namespace fs = std::filesystem;

namespace tilewright {
namespace {

/// A hash of a sequence of parts, each with its length.
class Hasher {
public:
  Hasher() : state(XXH3_createState()) { XXH3_128bits_reset(state); }
  ~Hasher() { XXH3_freeState(state); }
  Hasher(const Hasher &) = delete;
  Hasher &operator=(const Hasher &) = delete;

  void add(const void *data, size_t size) {
    uint64_t length = size;
    XXH3_128bits_update(state, &length, sizeof length);
    XXH3_128bits_update(state, data, size);
  }
  void add(const std::string &text) { add(text.data(), text.size()); }
  void add(int64_t number) { add(&number, sizeof number); }

  /// \returns 32 hexadecimal digits.
  std::string digest() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    std::string text;
    for (unsigned char byte : canonical.digest) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

private:
  XXH3_state_t *state;
};

/// Adds the files that a model's external tensors lie in, each once.
class ExternalFiles {
public:
  ExternalFiles(Hasher &hasher, fs::path folder)
      : hasher(hasher), folder(std::move(folder)) {}

  Status add(const onnx::GraphProto &graph);
  Status add(const onnx::NodeProto &node);

private:
  Status add(const onnx::TensorProto &tensor);
  Status add(const onnx::SparseTensorProto &tensor);

  Hasher &hasher;
  fs::path folder;
  std::set<fs::path> seen;
};

} // namespace

Status ExternalFiles::add(const onnx::TensorProto &tensor) {
  if (!isExternal(tensor)) {
    return Status::ok();
  }
  Result<ExternalRange> range = externalRange(tensor);
  if (!range) {
    return range.status();
  }
  Result<fs::path> path = resolveExternal(tensor, *range, folder);
  if (!path) {
    return path.status();
  }
  if (!seen.insert(*path).second) {
    return Status::ok();
  }
  auto file = MappedFile::open(*path);
  if (!file) {
    return file.status();
  }
  hasher.add((*file)->data(), (*file)->size());
  return Status::ok();
}

Status ExternalFiles::add(const onnx::SparseTensorProto &tensor) {
  TW_RETURN_IF_ERROR(add(tensor.values()));
  return add(tensor.indices());
}

Status ExternalFiles::add(const onnx::NodeProto &node) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    TW_RETURN_IF_ERROR(add(attribute.t()));
    TW_RETURN_IF_ERROR(add(attribute.sparse_tensor()));
    TW_RETURN_IF_ERROR(add(attribute.g()));
    for (const onnx::TensorProto &tensor : attribute.tensors()) {
      TW_RETURN_IF_ERROR(add(tensor));
    }
    for (const onnx::SparseTensorProto &tensor : attribute.sparse_tensors()) {
      TW_RETURN_IF_ERROR(add(tensor));
    }
    for (const onnx::GraphProto &graph : attribute.graphs()) {
      TW_RETURN_IF_ERROR(add(graph));
    }
  }
  return Status::ok();
}

Status ExternalFiles::add(const onnx::GraphProto &graph) {
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    TW_RETURN_IF_ERROR(add(tensor));
  }
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    TW_RETURN_IF_ERROR(add(tensor));
  }
  for (const onnx::NodeProto &node : graph.node()) {
    TW_RETURN_IF_ERROR(add(node));
  }
  return Status::ok();
}

static Result<std::unique_ptr<llvm::MemoryBuffer>> map(const fs::path &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path.string(), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    return Status(ErrorCode::ModelUnreadable,
                  "cannot read '" + path.string() +
                      "': " + buffer.getError().message());
  }
  return std::move(*buffer);
}

/// Adds the model's bytes, and those of the files that it names.
static Status addModel(Hasher &hasher, const fs::path &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return Status(ErrorCode::ModelUnreadable,
                  "'" + path.string() + "' is not a regular file");
  }
  Result<std::unique_ptr<llvm::MemoryBuffer>> bytes = map(path);
  if (!bytes) {
    return bytes.status();
  }
  const char *data = (*bytes)->getBufferStart();
  size_t size = (*bytes)->getBufferSize();
  hasher.add(data, size);
  // An external tensor says "location" somewhere; most models need no parsing.
  static constexpr std::string_view mark = "location";
  if (!memmem(data, size, mark.data(), mark.size())) {
    return Status::ok();
  }
  Result<std::unique_ptr<onnx::ModelProto>> model = readModel(path);
  if (!model) {
    return model.status();
  }
  fs::path folder = path.parent_path();
  ExternalFiles files(hasher, folder.empty() ? "." : folder);
  TW_RETURN_IF_ERROR(files.add((*model)->graph()));
  for (const onnx::FunctionProto &function : (*model)->functions()) {
    for (const onnx::NodeProto &node : function.node()) {
      TW_RETURN_IF_ERROR(files.add(node));
    }
  }
  return Status::ok();
}

static Result<std::string> hashOfCompiler() {
  Result<std::unique_ptr<llvm::MemoryBuffer>> program = map("/proc/self/exe");
  if (!program) {
    return program.status();
  }
  Hasher hasher;
  hasher.add((*program)->getBufferStart(), (*program)->getBufferSize());
  hasher.add(LLVM_VERSION_STRING);
  return hasher.digest();
}

Result<std::string> compilerFingerprint() {
  // The names of modules and of kernels both hold it.
  static const Result<std::string> fingerprint = hashOfCompiler();
  return fingerprint;
}

Result<std::string> cacheKey(const std::string &model,
                             const CompileOptions &options) {
  const TargetSpec *target = options.target ? options.target : hostTarget();
  if (!target) {
    return Status(ErrorCode::ModuleTarget, "no CPU level runs here");
  }
  Result<std::string> compiler = compilerFingerprint();
  TW_RETURN_IF_ERROR(compiler.status());
  Hasher hasher;
  hasher.add(*compiler);
  hasher.add(std::string(target->name));
  if (target->isGpu()) {
    Result<const Nvrtc *> nvrtc = Nvrtc::open();
    TW_RETURN_IF_ERROR(nvrtc.status());
    hasher.add((*nvrtc)->version());
  }
  for (const auto &[kernel, source] : options.kernelSources) {
    hasher.add(kernel);
    hasher.add(source);
  }
  hasher.add(options.reference);
  hasher.add(options.strict);
  hasher.add(options.tf32);
  hasher.add(static_cast<int64_t>(options.library));
  for (const auto &[name, shape] : options.shapes) {
    hasher.add(name);
    hasher.add(shape.data(), shape.size() * sizeof(int64_t));
  }
  TW_RETURN_IF_ERROR(addModel(hasher, model));
  return hasher.digest();
}

} // namespace tilewright
