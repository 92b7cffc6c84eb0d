//===- Reproducer.cpp - what a report of a fault needs --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/Reproducer.h"

#include "tools/driver/ModuleCache.h"
#include "tools/tilewright/OutputFile.h"

#include <sstream>

namespace fs = std::filesystem;

namespace tilewright {

static std::string describe(const std::string &path,
                            const CompileOptions &options,
                            const Status &error) {
  std::ostringstream text;
  text << error.toString() << "\n\ntilewright " TILEWRIGHT_VERSION "\nmodel "
       << path << "\ntarget "
       << fullName(options.target ? *options.target : *hostTarget()) << "\n";
  for (const auto &[name, sizes] : options.shapes) {
    text << "shape " << name << "=";
    for (size_t i = 0; i < sizes.size(); ++i) {
      text << (i ? "x" : "") << sizes[i];
    }
    text << "\n";
  }
  static constexpr const char *libraries[] = {"", "cublaslt never\n",
                                              "cublaslt always\n"};
  text << (options.strict ? "strict\n" : "")
       << (options.tf32 ? "precision tf32\n" : "")
       << libraries[static_cast<size_t>(options.library)]
       << (options.reference ? "reference\n" : "");
  return text.str();
}

Status writeReproducer(const std::string &path, const CompileOptions &options,
                       const Status &error) {
  std::string advice =
      error.message() + "\n  this is a fault of Tilewright, not of the model";
  Result<std::string> key = cacheKey(path, options);
  fs::path cache = ModuleCache::userFolder();
  if (!key || cache.empty() || !hostTarget()) {
    return Status(error.code(), advice + "; please report it with the model");
  }
  // The same fault gives the same folder, so that they do not pile up.
  fs::path folder = cache.parent_path() / "reproducers" / key->substr(0, 16);
  Status written = makeFolder(folder);
  if (written) {
    written = writeOutput(folder / "error.txt", describe(path, options, error));
  }
  if (!written) {
    return Status(error.code(), advice + "; please report it with the model");
  }
  CompileOptions again = options;
  again.dumpFolder = folder.string();
  // It fails as before; the dumps of the phases before that are what counts.
  (void)compileModel(path, again).isOk();
  return Status(error.code(), advice +
                                  "; please report it with the model and "
                                  "the folder '" +
                                  folder.string() + "'");
}

} // namespace tilewright
