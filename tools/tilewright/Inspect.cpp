//===- Inspect.cpp - tilewright inspect -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/PlanBuilder.h"
#include "runtime/module/ModuleFile.h"
#include "runtime/module/PlanVerifier.h"
#include "tools/tilewright/OutputFile.h"
#include "tools/tilewright/Report.h"
#include "tools/tilewright/StreamSchedule.h"
#include "tools/tilewright/Subcommands.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <map>
#include <memory>

namespace tilewright {
namespace {

struct InspectCommand {
  std::string path;
  bool json = false;
  bool plan = false;
  bool streams = false;
  std::string picture;
  std::string source;

  int run();

private:
  nlohmann::json describe(const ModuleFile &file) const;
  void print(const nlohmann::json &module) const;
  Status
  forEachPlan(const ModuleFile &file,
              llvm::function_ref<Status(const format::PlanT &)> visit) const;
  Status printSource(const ModuleFile &file) const;
};

} // namespace

static std::string text(const flatbuffers::String *string) {
  return string ? string->str() : "";
}

static nlohmann::json describeParameters(
    const flatbuffers::Vector<flatbuffers::Offset<format::Parameter>> *list) {
  nlohmann::json parameters = nlohmann::json::array();
  for (flatbuffers::uoffset_t i = 0; list && i < list->size(); ++i) {
    const format::Parameter *parameter = list->Get(i);
    nlohmann::json dims = nlohmann::json::array();
    const auto *sizes = parameter->dims();
    for (flatbuffers::uoffset_t axis = 0; sizes && axis < sizes->size();
         ++axis) {
      dims.push_back(text(sizes->Get(axis)));
    }
    unsigned dtype = static_cast<unsigned>(parameter->dtype());
    parameters.push_back(
        {{"name", text(parameter->name())},
         {"type", dtype < dtypeCount ? nameOf(static_cast<DType>(dtype)) : "?"},
         {"shape", std::move(dims)}});
  }
  return parameters;
}

/// The bytes of a variant's image, or of its kernels for GPUs.
static uint64_t codeBytes(const format::Variant &variant) {
  auto sizeOf = [](const format::Segment *segment) {
    return segment ? segment->bytes() : 0;
  };
  uint64_t bytes = sizeOf(variant.code());
  const auto *kernels = variant.device_kernels();
  for (flatbuffers::uoffset_t i = 0; kernels && i < kernels->size(); ++i) {
    bytes += sizeOf(kernels->Get(i)->cubin()) + sizeOf(kernels->Get(i)->ptx());
  }
  return bytes;
}

/// What the kernels of a variant for GPUs need.
static nlohmann::json describeDeviceKernels(const format::Variant &variant) {
  nlohmann::json list = nlohmann::json::array();
  const auto *kernels = variant.device_kernels();
  const auto *names = variant.plan() ? variant.plan()->kernels() : nullptr;
  for (flatbuffers::uoffset_t i = 0;
       kernels && names && i < kernels->size() && i < names->size(); ++i) {
    const format::DeviceKernel *kernel = kernels->Get(i);
    list.push_back({{"name", text(names->Get(i))},
                    {"registers", kernel->registers()},
                    {"spill_bytes", kernel->spill_bytes()},
                    {"shared_bytes", kernel->shared_bytes()}});
  }
  return list;
}

/// What a launch on a GPU is estimated to take and to move.
static nlohmann::json describeLaunch(const format::Plan &plan,
                                     const format::Command &command,
                                     const format::Launch &launch) {
  return {{"kernel", text(plan.kernels()->Get(launch.kernel()))},
          {"library", launch.product() ? "cublaslt" : ""},
          {"microseconds", command.microseconds()},
          {"load_bytes", command.load_bytes()},
          {"store_bytes", command.store_bytes()}};
}

static nlohmann::json describeVariant(const format::Variant &variant) {
  nlohmann::json kernels = nlohmann::json::array();
  nlohmann::json deviceLaunches = nlohmann::json::array();
  int64_t commands = 0, launches = 0;
  if (const format::Plan *plan = variant.plan()) {
    const auto *names = plan->kernels();
    for (flatbuffers::uoffset_t i = 0; names && i < names->size(); ++i) {
      kernels.push_back(text(names->Get(i)));
    }
    const auto *functions = plan->functions();
    for (flatbuffers::uoffset_t i = 0; functions && i < functions->size();
         ++i) {
      const auto *list = functions->Get(i)->commands();
      for (flatbuffers::uoffset_t j = 0; list && j < list->size(); ++j) {
        ++commands;
        const format::Launch *launch = list->Get(j)->body_as_Launch();
        launches += launch != nullptr;
        if (launch && variant.device_kernels()) {
          deviceLaunches.push_back(
              describeLaunch(*plan, *list->Get(j), *launch));
        }
      }
    }
  }
  return {{"target", text(variant.target()) + ":" + text(variant.level())},
          {"device_kernels", describeDeviceKernels(variant)},
          {"device_launches", std::move(deviceLaunches)},
          {"kernels", std::move(kernels)},
          {"commands", commands},
          {"launches", launches},
          {"code_bytes", codeBytes(variant)}};
}

nlohmann::json InspectCommand::describe(const ModuleFile &file) const {
  const format::Module &root = file.root();
  nlohmann::json variants = nlohmann::json::array();
  const auto *list = root.variants();
  for (flatbuffers::uoffset_t i = 0; list && i < list->size(); ++i) {
    variants.push_back(describeVariant(*list->Get(i)));
  }
  uint64_t constantBytes = 0;
  const auto *constants = root.constants();
  for (flatbuffers::uoffset_t i = 0; constants && i < constants->size(); ++i) {
    const format::Segment *data = constants->Get(i)->data();
    constantBytes += data ? data->bytes() : 0;
  }
  return {{"file", path},
          {"bytes", file.size()},
          {"compiler", text(root.compiler())},
          {"model", text(root.model())},
          {"inputs", describeParameters(root.inputs())},
          {"outputs", describeParameters(root.outputs())},
          {"constants", constants ? constants->size() : 0},
          {"constant_bytes", constantBytes},
          {"variants", std::move(variants)},
          {"summary", parseJson(text(root.summary()))}};
}

static void printParameters(const char *what, const nlohmann::json &list) {
  for (const nlohmann::json &parameter : list) {
    std::string dims;
    for (const nlohmann::json &dim : parameter["shape"]) {
      dims += (dims.empty() ? "" : ", ") + dim.get<std::string>();
    }
    std::printf("%-10s%s: %s[%s]\n", what,
                parameter["name"].get<std::string>().c_str(),
                parameter["type"].get<std::string>().c_str(), dims.c_str());
  }
}

void InspectCommand::print(const nlohmann::json &module) const {
  std::printf("%-10s%s\n", "model", module["model"].get<std::string>().c_str());
  std::printf("%-10s%s, %s\n", "file",
              formatBytes(module["bytes"].get<int64_t>()).c_str(),
              module["compiler"].get<std::string>().c_str());
  printParameters("input", module["inputs"]);
  printParameters("output", module["outputs"]);
  std::printf("%-10s%lld, %s\n", "constants",
              module["constants"].get<long long>(),
              formatBytes(module["constant_bytes"].get<int64_t>()).c_str());
  const nlohmann::json &summary = module["summary"];
  if (summary.is_object() && summary.contains("arena_bytes")) {
    std::printf("%-10s%s (with every symbolic size 1)\n", "arena",
                formatBytes(summary["arena_bytes"].get<int64_t>()).c_str());
    int64_t nodeBytes = summary.value("node_traffic_bytes", int64_t(0));
    int64_t kernelBytes = summary.value("kernel_traffic_bytes", int64_t(0));
    std::printf("%-10s%s by kernels", "moved",
                formatBytes(kernelBytes).c_str());
    if (nodeBytes) {
      std::printf(", %s if every ONNX node were one",
                  formatBytes(nodeBytes).c_str());
    }
    std::printf("\n");
    std::printf(
        "%-10s%s\n", "compiled",
        formatCount(summary["onnx_nodes"].get<int64_t>(), "ONNX node").c_str());
  }
  for (const nlohmann::json &variant : module["variants"]) {
    std::printf(
        "%-10s%s: %s, %s of %s, code %s\n", "variant",
        variant["target"].get<std::string>().c_str(),
        formatCount(variant["commands"].get<int64_t>(), "command").c_str(),
        formatCount(variant["launches"].get<int64_t>(), "kernel launch")
            .c_str(),
        formatCount(static_cast<int64_t>(variant["kernels"].size()), "kernel")
            .c_str(),
        formatBytes(variant["code_bytes"].get<int64_t>()).c_str());
    for (const nlohmann::json &kernel : variant["kernels"]) {
      std::printf("  %s\n", kernel.get<std::string>().c_str());
    }
  }
}

/// A plan is shown only when the runtime would run it, so that every number in
/// it leads somewhere.
Status InspectCommand::forEachPlan(
    const ModuleFile &file,
    llvm::function_ref<Status(const format::PlanT &)> visit) const {
  std::vector<uint64_t> constantBytes;
  const auto *constants = file.root().constants();
  for (flatbuffers::uoffset_t i = 0; constants && i < constants->size(); ++i) {
    const format::Segment *data = constants->Get(i)->data();
    constantBytes.push_back(data ? data->bytes() : 0);
  }
  const auto *variants = file.root().variants();
  for (flatbuffers::uoffset_t i = 0; variants && i < variants->size(); ++i) {
    const format::Plan *packed = variants->Get(i)->plan();
    if (!packed) {
      continue;
    }
    std::unique_ptr<format::PlanT> unpacked(packed->UnPack());
    Result<VerifiedPlan> verified =
        verifyPlan(std::move(unpacked), constantBytes);
    TW_RETURN_IF_ERROR(verified.status());
    bool isForGpu = text(variants->Get(i)->target()) == "cuda";
    TW_RETURN_IF_ERROR(isForGpu ? verifyForGpu(*verified->plan) : Status::ok());
    TW_RETURN_IF_ERROR(visit(*verified->plan));
  }
  return Status::ok();
}

static Status printPlanText(const format::PlanT &plan) {
  llvm::outs() << "\n";
  plan::printPlan(plan, llvm::outs());
  llvm::outs().flush();
  return Status::ok();
}

/// Prints the CUDA C++ of the kernel called `source`, or of the only one whose
/// name contains it.
Status InspectCommand::printSource(const ModuleFile &file) const {
  std::map<std::string, std::string_view> found;
  const auto *variants = file.root().variants();
  for (flatbuffers::uoffset_t i = 0; variants && i < variants->size(); ++i) {
    const format::Plan *plan = variants->Get(i)->plan();
    const auto *names = plan ? plan->kernels() : nullptr;
    const auto *kernels = variants->Get(i)->device_kernels();
    for (flatbuffers::uoffset_t k = 0;
         names && kernels && k < kernels->size() && k < names->size(); ++k) {
      const format::Segment *segment = kernels->Get(k)->source();
      const char *data = segment ? file.segment(*segment) : nullptr;
      std::string name = text(names->Get(k));
      if (data && name.find(source) != std::string::npos) {
        found[name] = {data, segment->bytes()};
      }
    }
  }
  auto exact = found.find(source);
  if (exact == found.end() && found.size() != 1) {
    std::string names;
    for (const auto &[name, bytes] : found) {
      names += "\n  " + name;
    }
    return Status(ErrorCode::OptionInvalid,
                  "--source '" + source + "': " +
                      (found.empty() ? "the module has no such kernel with "
                                       "CUDA source"
                                     : "several kernels are called so:") +
                      names);
  }
  std::string_view bytes =
      exact != found.end() ? exact->second : found.begin()->second;
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  return Status::ok();
}

int InspectCommand::run() {
  Result<ModuleFile> file = ModuleFile::open(path, /*threads=*/0);
  if (!file) {
    return report(Status(file.status().code(),
                         "'" + path + "': " + file.status().message()));
  }
  if (!source.empty()) {
    Status status = printSource(*file);
    return status ? Success : report(status);
  }
  nlohmann::json module = describe(*file);
  if (json) {
    std::printf("%s\n", dumpJson(module).c_str());
    return Success;
  }
  print(module);
  std::fflush(stdout);
  Status status = plan ? forEachPlan(*file, printPlanText) : Status::ok();
  if (status && (streams || !picture.empty())) {
    bool hasPicture = false;
    status = forEachPlan(*file, [&](const format::PlanT &plan) {
      std::printf("%s", streams ? streamTable(plan).c_str() : "");
      bool draws = !picture.empty() && !hasPicture;
      hasPicture |= draws; // of the first variant
      return draws ? writeOutput(picture, streamPicture(plan)) : Status::ok();
    });
  }
  return status ? Success : report(status);
}

Action addInspect(CLI::App &program) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App &app = *program.add_subcommand(
      "inspect", "Shows a module's signature, kernels, memory and plan");
  app.add_option("module", command->path, "The module file")
      ->required()
      ->type_name("MODULE.twm");
  app.add_flag("--plan", command->plan, "Also print the list of commands");
  app.add_flag("--streams", command->streams,
               "Also print which command is on which stream, and when it would "
               "run by the compiler's estimates");
  app.add_option("--streams-picture", command->picture, "The same as a picture")
      ->type_name("FILE.svg");
  app.add_option("--source", command->source,
                 "Print the CUDA C++ of the kernel of this name, or of the "
                 "only one that it is a part of")
      ->type_name("KERNEL");
  app.add_flag("--json", command->json, "Print JSON");
  return [command] { return command->run(); };
}

} // namespace tilewright
