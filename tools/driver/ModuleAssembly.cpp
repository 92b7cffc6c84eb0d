//===- ModuleAssembly.cpp - plan, code and constants in one file ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/ModuleAssembly.h"
#include "ir/BodyBuilder.h"
#include "runtime/ModuleWriter.h"
#include <list>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright {

#ifndef TILEWRIGHT_VERSION
#define TILEWRIGHT_VERSION "0.1.0"
#endif

/// The bytes of a constant: the store's own for a blob, else a copy in `owned`.
static Result<std::string_view> bytesOf(ConstantOp constant,
                                        std::list<std::vector<char>> &owned) {
  if (auto blob = dyn_cast<tw::BlobAttr>(constant.getValue())) {
    auto *dialect = constant->getContext()->getLoadedDialect<TwDialect>();
    if (std::optional<ArrayRef<char>> bytes =
            dialect->getConstants().find(blob.getHash())) {
      return std::string_view(bytes->data(), bytes->size());
    }
    return Status(ErrorCode::ConstantInvalid,
                  "the bytes of the constant '" + blob.getHash().str() +
                      "' are not there; start from a dump that its side file "
                      "lies beside");
  }
  std::optional<std::vector<char>> bytes = constantBytes(constant.getResult());
  if (!bytes) {
    return Status(ErrorCode::Internal, "a constant has no bytes");
  }
  owned.push_back(std::move(*bytes));
  return std::string_view(owned.back().data(), owned.back().size());
}

/// Adds the kernels that a plan launches, in its order.
static Status addDeviceKernels(ArrayRef<CudaKernel> kernels,
                               format::VariantT &variant,
                               ModuleContents &contents) {
  llvm::StringMap<const CudaKernel *> byName;
  for (const CudaKernel &kernel : kernels) {
    byName[kernel.name] = &kernel;
  }
  std::vector<DeviceCode> code;
  for (const std::string &name : variant.plan->kernels) {
    const CudaKernel *kernel = byName.lookup(name);
    if (!kernel) {
      return Status(ErrorCode::Internal,
                    "the plan launches '" + name + "', which does not exist");
    }
    auto entry = std::make_unique<format::DeviceKernelT>();
    entry->registers = kernel->binary.registers;
    entry->spill_bytes = kernel->binary.spillBytes;
    entry->shared_bytes = kernel->binary.sharedBytes;
    variant.device_kernels.push_back(std::move(entry));
    code.push_back({kernel->binary.cubin, kernel->binary.ptx, kernel->source});
  }
  contents.deviceCode.push_back(std::move(code));
  return Status::ok();
}

/// Plans refer to constants by number.
static bool sameConstants(const plan::BuiltPlan &a, const plan::BuiltPlan &b) {
  return llvm::equal(a.constants, b.constants, [](ConstantOp x, ConstantOp y) {
    return x.getValue() == y.getValue() && x.getType() == y.getType();
  });
}

Result<std::vector<std::byte>> assembleModule(ModuleParts parts) {
  format::ModuleT module;
  module.compiler = "tilewright " TILEWRIGHT_VERSION;
  module.model = parts.modelName;
  module.decisions = parts.decisions;
  module.summary = parts.summary;
  const plan::BuiltPlan &first = *parts.variants.front().plan;
  for (const format::ParameterT &input : first.inputs) {
    module.inputs.push_back(std::make_unique<format::ParameterT>(input));
  }
  for (const format::ParameterT &output : first.outputs) {
    module.outputs.push_back(std::make_unique<format::ParameterT>(output));
  }
  ModuleContents contents;
  contents.module = &module;
  std::list<std::vector<char>> owned;
  for (ConstantOp constant : first.constants) {
    Result<std::string_view> bytes = bytesOf(constant, owned);
    if (!bytes) {
      return bytes.status();
    }
    auto entry = std::make_unique<format::ConstantT>();
    if (auto blob = dyn_cast<tw::BlobAttr>(constant.getValue())) {
      entry->hash = blob.getHash().str();
    }
    module.constants.push_back(std::move(entry));
    contents.constants.push_back(*bytes);
  }
  for (const VariantParts &part : parts.variants) {
    if (!sameConstants(first, *part.plan)) {
      return Status(ErrorCode::Internal,
                    "the plans of two targets have different constants");
    }
  }
  for (const VariantParts &part : parts.variants) {
    auto variant = std::make_unique<format::VariantT>();
    variant->target = part.target->isGpu() ? "cuda" : "cpu";
    variant->level = std::string(part.target->name);
    variant->plan = std::make_unique<format::PlanT>(std::move(part.plan->plan));
    if (part.target->isGpu()) {
      TW_RETURN_IF_ERROR(addDeviceKernels(part.cuda, *variant, contents));
    }
    module.variants.push_back(std::move(variant));
    contents.code.emplace_back(reinterpret_cast<const char *>(part.code.data()),
                               part.code.size());
  }
  return moduleToBytes(contents);
}

std::string toJson(const DecisionLog &log) {
  nlohmann::json list = nlohmann::json::array();
  for (const Decision &decision : log.all()) {
    list.push_back({{"code", decision.code},
                    {"refused", decision.refused},
                    {"message", decision.message},
                    {"nodes", decision.nodes},
                    {"numbers", decision.numbers}});
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace tilewright
