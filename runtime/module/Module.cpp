//===- Module.cpp - compiled models ---------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/Module.h"

#include "runtime/GuardedMemory.h"
#include "runtime/LoadedModule.h"
#include "runtime/module/FileLayout.h"

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
CpuLevel Module::level() const { return impl->level; }

static std::string text(const flatbuffers::String *string) {
  return string ? string->str() : std::string();
}

static Status damaged(const std::string &what) {
  return Status(ErrorCode::ModuleDamaged,
                "the module contradicts itself: " + what +
                    "; compile the model again");
}

using ParameterList =
    flatbuffers::Vector<flatbuffers::Offset<format::Parameter>>;

static Status readSignature(const ParameterList *list,
                            std::vector<Parameter> &out) {
  for (flatbuffers::uoffset_t i = 0; list && i < list->size(); ++i) {
    const format::Parameter &entry = *list->Get(i);
    if (entry.dtype() > format::DType_MAX) {
      return damaged("an input or output has an unknown type");
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
      return damaged("a constant lies outside the file");
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

/// \returns the variant to run, whose level goes to `level`.
static Result<const format::Variant *> choose(const format::Module &module,
                                              const OpenOptions &options,
                                              CpuLevel &level) {
  std::optional<CpuLevel> host = hostCpuLevel();
  const format::Variant *best = nullptr;
  std::string present;
  const auto *variants = module.variants();
  for (flatbuffers::uoffset_t i = 0; variants && i < variants->size(); ++i) {
    const format::Variant *variant = variants->Get(i);
    std::string target = text(variant->target());
    std::string name = text(variant->level());
    present += (present.empty() ? "" : ", ") + target + ":" + name;
    std::optional<CpuLevel> candidate = cpuLevelFromName(name);
    if (target != "cpu" || !candidate || !host || *candidate > *host ||
        (options.level && *candidate != *options.level) ||
        (best && *candidate <= level)) {
      continue;
    }
    best = variant;
    level = *candidate;
  }
  if (!best) {
    std::string wanted =
        options.level ? std::string(", asked for cpu:") + nameOf(*options.level)
                      : "";
    return Status(ErrorCode::ModuleTarget,
                  "the module has no code that runs on this machine: it has " +
                      (present.empty() ? "none" : present) +
                      ", and this processor runs up to " +
                      (host ? std::string("cpu:") + nameOf(*host) : "none") +
                      wanted + "; compile the model for this machine");
  }
  return best;
}

static Status loadKernels(LoadedModule &module,
                          const format::Variant &variant) {
  const std::vector<std::string> &names = module.plan().kernels;
  if (names.empty()) {
    return Status::ok();
  }
  const format::Segment *code = variant.code();
  const char *bytes = code ? module.file.segment(*code) : nullptr;
  if (!bytes) {
    return damaged("its code lies outside the file");
  }
  Result<CodeImage> image =
      CodeImage::load(std::string_view(bytes, code->bytes()));
  if (!image) {
    return image.status();
  }
  module.image = std::move(*image);
  for (const std::string &name : names) {
    KernelFunction kernel = module.image.find(name);
    if (!kernel) {
      return damaged("its code lacks the kernel '" + name + "'");
    }
    module.kernels.push_back(kernel);
  }
  return Status::ok();
}

/// Whether the plan's main function has the module's signature.
static Status checkSignature(const LoadedModule &module) {
  const format::PlanT &plan = module.plan();
  auto matches = [&](const std::vector<uint32_t> &values,
                     const std::vector<Parameter> &parameters) {
    bool good = values.size() == parameters.size();
    for (size_t i = 0; good && i < values.size(); ++i) {
      const format::ValueT &value = *plan.values[values[i]];
      good = static_cast<DType>(value.dtype) == parameters[i].dtype &&
             value.dims.size() == parameters[i].dims.size();
    }
    return good;
  };
  const format::FunctionT &main = *plan.functions[0];
  if (!matches(main.parameters, module.inputs) ||
      !matches(main.results, module.outputs)) {
    return damaged("its plan and its signature differ");
  }
  return Status::ok();
}

static Status load(LoadedModule &module, const OpenOptions &options) {
  const format::Module &root = module.file.root();
  if (root.format_version() != moduleFormatVersion) {
    return damaged("its parts have different versions");
  }
  module.name = text(root.model());
  module.compiler = text(root.compiler());
  module.summary = text(root.summary());
  module.decisions = text(root.decisions());
  TW_RETURN_IF_ERROR(readSignature(root.inputs(), module.inputs));
  TW_RETURN_IF_ERROR(readSignature(root.outputs(), module.outputs));
  TW_RETURN_IF_ERROR(readConstants(module));

  Result<const format::Variant *> variant = choose(root, options, module.level);
  if (!variant) {
    return variant.status();
  }
  std::vector<uint64_t> constantBytes;
  for (const LoadedConstant &constant : module.constants) {
    constantBytes.push_back(constant.bytes);
  }
  const format::Plan *plan = (*variant)->plan();
  Result<VerifiedPlan> verified = verifyPlan(
      std::unique_ptr<format::PlanT>(plan ? plan->UnPack() : nullptr),
      constantBytes);
  if (!verified) {
    return verified.status();
  }
  module.verified = std::move(*verified);
  TW_RETURN_IF_ERROR(checkSignature(module));
  return loadKernels(module, **variant);
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
