//===- Variants.cpp - a module's code, by what runs it --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/Variants.h"

#include <algorithm>

using namespace tilewright;

Status tilewright::moduleError(const std::string &what) {
  return Status(ErrorCode::ModuleDamaged,
                "the module contradicts itself: " + what +
                    "; compile the model again");
}

static std::string text(const flatbuffers::String *string) {
  return string ? string->str() : std::string();
}

static std::vector<const format::Variant *>
variantsOf(const LoadedModule &module) {
  std::vector<const format::Variant *> list;
  const auto *variants = module.file.root().variants();
  for (flatbuffers::uoffset_t i = 0; variants && i < variants->size(); ++i) {
    list.push_back(variants->Get(i));
  }
  return list;
}

/// \returns "cpu:avx2, cuda:sm_80", or "none".
static std::string present(const LoadedModule &module) {
  std::string list;
  for (const format::Variant *variant : variantsOf(module)) {
    list += (list.empty() ? "" : ", ") + text(variant->target()) + ":" +
            text(variant->level());
  }
  return list.empty() ? "none" : list;
}

static bool hasTarget(const LoadedModule &module, std::string_view target) {
  std::vector<const format::Variant *> list = variantsOf(module);
  return std::any_of(list.begin(), list.end(), [&](const auto *variant) {
    return text(variant->target()) == target;
  });
}

/// Whether the plan's main function has the module's signature.
static Status checkSignature(const LoadedModule &module,
                             const format::PlanT &plan) {
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
    return moduleError("its plan and its signature differ");
  }
  return Status::ok();
}

static Result<VerifiedPlan> loadPlan(const LoadedModule &module,
                                     const format::Variant &variant) {
  std::vector<uint64_t> constantBytes;
  for (const LoadedConstant &constant : module.constants) {
    constantBytes.push_back(constant.bytes);
  }
  const format::Plan *plan = variant.plan();
  Result<VerifiedPlan> verified = verifyPlan(
      std::unique_ptr<format::PlanT>(plan ? plan->UnPack() : nullptr),
      constantBytes);
  if (verified) {
    TW_RETURN_IF_ERROR(checkSignature(module, *verified->plan));
  }
  return verified;
}

/// \returns the variant to run on the processor, whose level goes to `level`.
static Result<const format::Variant *> chooseForCpu(const LoadedModule &module,
                                                    const OpenOptions &options,
                                                    CpuLevel &level) {
  std::optional<CpuLevel> host = hostCpuLevel();
  const format::Variant *best = nullptr;
  for (const format::Variant *variant : variantsOf(module)) {
    std::optional<CpuLevel> candidate =
        cpuLevelFromName(text(variant->level()));
    if (text(variant->target()) != "cpu" || !candidate || !host ||
        *candidate > *host || (options.level && *candidate != *options.level) ||
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
                      present(module) + ", and this processor runs up to " +
                      (host ? std::string("cpu:") + nameOf(*host) : "none") +
                      wanted + "; compile the model for this machine");
  }
  return best;
}

static Status loadForCpu(LoadedModule &module, const OpenOptions &options) {
  Result<const format::Variant *> variant =
      chooseForCpu(module, options, module.level);
  if (!variant) {
    return variant.status();
  }
  LoadedVariant loaded;
  Result<VerifiedPlan> verified = loadPlan(module, **variant);
  if (!verified) {
    return verified.status();
  }
  loaded.verified = std::move(*verified);
  const std::vector<std::string> &names = loaded.plan().kernels;
  if (!names.empty()) {
    const format::Segment *code = (*variant)->code();
    const char *bytes = code ? module.file.segment(*code) : nullptr;
    if (!bytes) {
      return moduleError("its code lies outside the file");
    }
    Result<CodeImage> image =
        CodeImage::load(std::string_view(bytes, code->bytes()));
    if (!image) {
      return image.status();
    }
    loaded.image = std::move(*image);
  }
  for (const std::string &name : names) {
    KernelFunction kernel = loaded.image.find(name);
    if (!kernel) {
      return moduleError("its code lacks the kernel '" + name + "'");
    }
    loaded.kernels.push_back(kernel);
  }
  module.variants.push_back(std::move(loaded));
  return Status::ok();
}

/// Reads a segment that may be left out.
static bool readSegment(const ModuleFile &file, const format::Segment *segment,
                        std::string_view &out) {
  if (!segment) {
    return true;
  }
  const char *bytes = file.segment(*segment);
  if (bytes) {
    out = std::string_view(bytes, segment->bytes());
  }
  return bytes != nullptr;
}

static Status loadDeviceKernels(const ModuleFile &file,
                                const format::Variant &variant,
                                LoadedVariant &loaded) {
  const auto *list = variant.device_kernels();
  const std::vector<std::string> &names = loaded.plan().kernels;
  if ((list ? list->size() : 0) != names.size()) {
    return moduleError("its plan and its code name different kernels");
  }
  for (flatbuffers::uoffset_t i = 0; i < names.size(); ++i) {
    const format::DeviceKernel &entry = *list->Get(i);
    LoadedDeviceKernel kernel;
    std::string_view source;
    if (!readSegment(file, entry.cubin(), kernel.cubin) ||
        !readSegment(file, entry.ptx(), kernel.ptx) ||
        !readSegment(file, entry.source(), source)) {
      return moduleError("the code of kernel '" + names[i] +
                         "' lies outside the file");
    }
    loaded.deviceKernels.push_back(kernel);
  }
  return Status::ok();
}

static Status loadForGpu(LoadedModule &module, const OpenOptions &options) {
  std::optional<GpuArchitecture> wanted;
  if (!options.architecture.empty()) {
    wanted = GpuArchitecture::parse(options.architecture);
    if (!wanted) {
      return Status(ErrorCode::OptionInvalid,
                    "'" + options.architecture +
                        "' is no architecture of a GPU; one is 'sm_80'");
    }
  }
  for (const format::Variant *variant : variantsOf(module)) {
    std::optional<GpuArchitecture> architecture =
        GpuArchitecture::parse(text(variant->level()));
    if (text(variant->target()) != "cuda" || !architecture) {
      continue;
    }
    bool fits = !wanted || (module.device == DeviceKind::Simulator
                                ? architecture->ptxRunsOn(*wanted)
                                : architecture->name() == wanted->name());
    if (!fits) {
      continue;
    }
    LoadedVariant loaded;
    loaded.architecture = *architecture;
    Result<VerifiedPlan> verified = loadPlan(module, *variant);
    if (!verified) {
      return verified.status();
    }
    loaded.verified = std::move(*verified);
    TW_RETURN_IF_ERROR(verifyForGpu(loaded.plan()));
    TW_RETURN_IF_ERROR(loadDeviceKernels(module.file, *variant, loaded));
    module.variants.push_back(std::move(loaded));
  }
  std::sort(module.variants.begin(), module.variants.end(),
            [](const LoadedVariant &a, const LoadedVariant &b) {
              return a.architecture.isBetterThan(b.architecture);
            });
  if (module.variants.empty()) {
    return Status(ErrorCode::ModuleTarget,
                  "the module has no code for a GPU" +
                      (wanted ? " '" + wanted->name() + "'" : std::string()) +
                      ": it has " + present(module) +
                      "; compile the model with --target cuda:" +
                      (wanted ? wanted->name() : "ARCHITECTURE"));
  }
  if (module.device == DeviceKind::Simulator) {
    module.architecture =
        wanted ? wanted->name() : module.variants[0].architecture.name();
  }
  return Status::ok();
}

Status tilewright::loadVariants(LoadedModule &module,
                                const OpenOptions &options) {
  module.device = options.device.value_or(
      options.level || hasTarget(module, "cpu") || !hasTarget(module, "cuda")
          ? DeviceKind::Cpu
          : DeviceKind::Cuda);
  return module.device == DeviceKind::Cpu ? loadForCpu(module, options)
                                          : loadForGpu(module, options);
}
