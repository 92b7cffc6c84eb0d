//===- main.cpp - checks compiled modules on a GPU ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
//   tilewright-gpu-check device --target cuda
//   tilewright-gpu-check SECTION MANIFEST.json --folder BUNDLE [--first N]
//   tilewright-gpu-check weights MODULE.twm SEEDED.twm HOLLOW.twm
//
// scripts/gpu_check.sh starts this program, which needs the runtime alone. It
// prints a JSON object per entry of the manifest's section, in its order, as
// soon as it is done. After a fault, which leaves a GPU unusable for the
// process, it ends; whoever started it goes on with the next entry.
//
// `weights` is for who makes a bundle: it writes a module twice, with seeded
// weights and without any, and prints what brings the second to the first.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Bandwidth.h"
#include "tools/gpu-check/Cases.h"
#include "tools/gpu-check/SeededWeights.h"
#include "tools/gpu-check/Tables.h"
#include "tools/tilewright/Report.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <new>

using namespace tilewright;
using namespace tilewright::gpucheck;

namespace {
struct Arguments {
  std::string section;
  std::string manifest;
  std::string folder;
  std::string seeded;
  std::string hollow;
  std::string target = "cuda";
  size_t first = 0;
  int device = 0;
};
} // namespace

static void print(const nlohmann::json &object) {
  std::string line = object.dump(-1, ' ', /*ensure_ascii=*/false,
                                 nlohmann::json::error_handler_t::replace);
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// Whether the process can use the GPU no longer.
static bool isFatal(const Status &status) {
  return status.code() == ErrorCode::DeviceFault;
}

static Result<nlohmann::json> readManifest(const std::string &path) {
  std::ifstream file(path);
  nlohmann::json manifest =
      nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object()) {
    return Status(ErrorCode::InputUnreadable,
                  "'" + path + "' cannot be read as JSON");
  }
  return manifest;
}

/// Does entry by entry what `check` says.
template <typename Check>
static int runAll(const nlohmann::json &entries, size_t first, Check &&check) {
  for (size_t i = first; i < entries.size(); ++i) {
    Result<nlohmann::json> result = check(entries[i]);
    nlohmann::json line = result ? *result : nlohmann::json::object();
    line["name"] = entries[i]["name"];
    if (!result) {
      line["wrong"] = result.status().toString();
    }
    print(line);
    if (!result && isFatal(result.status())) {
      return report(result.status());
    }
  }
  return Success;
}

static Status writeFile(const std::string &path,
                        const std::vector<std::byte> &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.flush() ? Status::ok()
                      : Status(ErrorCode::OutputUnwritable,
                               "cannot write '" + path + "'");
}

static int writeWeights(const Arguments &arguments) {
  Result<ModuleFile> file = ModuleFile::open(arguments.manifest, 0);
  if (!file) {
    return report(file.status());
  }
  nlohmann::json weights = describeWeights(*file);
  for (auto [path, kind] : {std::pair(&arguments.seeded, Weights::Seeded),
                            {&arguments.hollow, Weights::Zero}}) {
    Result<std::vector<std::byte>> bytes = replaceWeights(*file, weights, kind);
    Status status = bytes ? writeFile(*path, *bytes) : bytes.status();
    if (!status) {
      return report(status);
    }
  }
  print(weights);
  return Success;
}

static int run(const Arguments &arguments) {
  if (arguments.section == "weights") {
    return writeWeights(arguments);
  }
  Result<Session> session = Session::open(arguments.target, arguments.device);
  if (!session) {
    return report(session.status());
  }
  if (arguments.section == "device") {
    Result<nlohmann::json> device = session->describe();
    if (!device) {
      return report(device.status());
    }
    Result<std::unique_ptr<CublasLt>> library = CublasLt::open(session->gpu);
    (*device)["cublaslt"] =
        library ? (*library)->version() : library.status().message();
    print(*device);
    return Success;
  }
  Result<nlohmann::json> manifest = readManifest(arguments.manifest);
  if (!manifest) {
    return report(manifest.status());
  }
  std::filesystem::path folder = arguments.folder;
  const nlohmann::json entries =
      manifest->value(arguments.section, nlohmann::json::array());
  if (arguments.section == "bandwidth") {
    return runAll(entries, arguments.first, [&](const nlohmann::json &entry) {
      return measureCopy(*session, entry);
    });
  }
  if (arguments.section == "gemm") {
    Result<std::unique_ptr<CublasLt>> library = CublasLt::open(session->gpu);
    return runAll(entries, arguments.first, [&](const nlohmann::json &entry) {
      return runProduct(*session, library ? library->get() : nullptr, entry,
                        folder);
    });
  }
  if (arguments.section == "fused") {
    return runAll(entries, arguments.first, [&](const nlohmann::json &entry) {
      return runFusedProduct(*session, entry, folder);
    });
  }
  if (arguments.section == "attention") {
    return runAll(entries, arguments.first, [&](const nlohmann::json &entry) {
      return runAttention(*session, entry, folder);
    });
  }
  return runAll(entries, arguments.first, [&](const nlohmann::json &entry) {
    return runCase(*session, entry, folder);
  });
}

int main(int argc, char **argv) {
  CLI::App program("Checks compiled modules on a GPU; gpu_check.sh starts this",
                   "tilewright-gpu-check");
  Arguments arguments;
  program
      .add_option("section", arguments.section,
                  "What to do: device, or a part of the manifest")
      ->required()
      ->check(CLI::IsMember({"device", "bandwidth", "conformance", "models",
                             "gemm", "fused", "attention", "weights"}));
  program.add_option("manifest", arguments.manifest);
  program.add_option("seeded", arguments.seeded);
  program.add_option("hollow", arguments.hollow);
  program.add_option("--folder", arguments.folder,
                     "What the manifest's files are relative to");
  program.add_option("--target", arguments.target,
                     "cuda, cuda:ARCHITECTURE or sim:ARCHITECTURE");
  program.add_option("--device", arguments.device, "Which GPU");
  program.add_option("--first", arguments.first, "The first entry to do");
  try {
    program.parse(argc, argv);
    return run(arguments);
  } catch (const CLI::ParseError &error) {
    return program.exit(error) == 0 ? Success : UserError;
  } catch (const nlohmann::json::exception &error) {
    return report(
        Status(ErrorCode::InputUnreadable, "the manifest is of another form: " +
                                               std::string(error.what())));
  } catch (const std::bad_alloc &) {
    return report(Status(ErrorCode::OutOfMemory, ""));
  } catch (const std::exception &error) {
    return report(Status(ErrorCode::Internal, error.what()));
  }
}
