//===- Module.cpp - compiled models ---------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/Module.h"

#include "runtime/GuardedMemory.h"
#include "runtime/LoadedModule.h"
#include "runtime/module/FileLayout.h"
#include "runtime/module/Variants.h"

#include <cstring>
#include <new>

using namespace tilewright;

Module::Module(std::unique_ptr<LoadedModule> impl) : impl(std::move(impl)) {}
Module::~Module() = default;

const std::string &Module::name() const { return impl->name; }
const std::string &Module::compiler() const { return impl->compiler; }
const std::string &Module::summary() const { return impl->summary; }
const std::string &Module::decisions() const { return impl->decisions; }
const std::vector<Parameter> &Module::inputs() const { return impl->inputs; }
const std::vector<Parameter> &Module::outputs() const { return impl->outputs; }
DeviceKind Module::device() const { return impl->device; }
CpuLevel Module::level() const { return impl->level; }

std::string Module::targets() const {
  if (impl->device == DeviceKind::Cpu) {
    return std::string("cpu:") + nameOf(impl->level);
  }
  std::string list;
  for (const LoadedVariant &variant : impl->variants) {
    list += (list.empty() ? "cuda:" : ", cuda:") + variant.architecture.name();
  }
  return list;
}

static std::string text(const flatbuffers::String *string) {
  return string ? string->str() : std::string();
}

using ParameterList =
    flatbuffers::Vector<flatbuffers::Offset<format::Parameter>>;

static Status readSignature(const ParameterList *list,
                            std::vector<Parameter> &out) {
  for (flatbuffers::uoffset_t i = 0; list && i < list->size(); ++i) {
    const format::Parameter &entry = *list->Get(i);
    if (entry.dtype() > format::DType_MAX) {
      return moduleError("an input or output has an unknown type");
    }
    Parameter parameter;
    parameter.name = text(entry.name());
    parameter.dtype = static_cast<DType>(entry.dtype());
    if (entry.dims()) {
      for (const flatbuffers::String *dim : *entry.dims()) {
        parameter.dims.push_back(dim->str());
      }
    }
    out.push_back(std::move(parameter));
  }
  return Status::ok();
}

static Status readConstants(LoadedModule &module) {
  const auto *list = module.file.root().constants();
  for (flatbuffers::uoffset_t i = 0; list && i < list->size(); ++i) {
    const format::Segment *segment = list->Get(i)->data();
    const char *data = segment ? module.file.segment(*segment) : nullptr;
    if (!data) {
      return moduleError("a constant lies outside the file");
    }
    if (guardsMemory()) {
      Result<Block> copy =
          Block::allocate(static_cast<int64_t>(segment->bytes()));
      if (!copy) {
        return copy.status();
      }
      std::memcpy(copy->data(), data, segment->bytes());
      data = copy->data();
      module.guardedConstants.push_back(std::move(*copy));
    }
    module.constants.push_back({data, segment->bytes()});
  }
  return Status::ok();
}

static Status load(LoadedModule &module, const OpenOptions &options) {
  const format::Module &root = module.file.root();
  if (root.format_version() != moduleFormatVersion) {
    return moduleError("its parts have different versions");
  }
  module.name = text(root.model());
  module.compiler = text(root.compiler());
  module.summary = text(root.summary());
  module.decisions = text(root.decisions());
  TW_RETURN_IF_ERROR(readSignature(root.inputs(), module.inputs));
  TW_RETURN_IF_ERROR(readSignature(root.outputs(), module.outputs));
  TW_RETURN_IF_ERROR(readConstants(module));

  return loadVariants(module, options);
}

static Result<std::unique_ptr<LoadedModule>>
loadFile(Result<ModuleFile> file, const OpenOptions &options) {
  if (!file) {
    return file.status();
  }
  auto module = std::make_unique<LoadedModule>(std::move(*file));
  TW_RETURN_IF_ERROR(load(*module, options));
  return module;
}

Result<std::shared_ptr<const Module>> Module::open(const std::string &path,
                                                   const OpenOptions &options) {
  try {
    auto loaded = loadFile(ModuleFile::open(path, options.threads), options);
    if (!loaded) {
      return Status(loaded.status().code(),
                    "'" + path + "': " + loaded.status().message());
    }
    return std::shared_ptr<const Module>(new Module(std::move(*loaded)));
  } catch (const std::bad_alloc &) {
    return Status(ErrorCode::OutOfMemory,
                  "the module does not fit into memory");
  }
}

Result<std::shared_ptr<const Module>>
Module::fromBytes(const void *data, size_t size, const OpenOptions &options) {
  try {
    auto loaded =
        loadFile(ModuleFile::fromBytes(data, size, options.threads), options);
    if (!loaded) {
      return loaded.status();
    }
    return std::shared_ptr<const Module>(new Module(std::move(*loaded)));
  } catch (const std::bad_alloc &) {
    return Status(ErrorCode::OutOfMemory,
                  "the module does not fit into memory");
  }
}
