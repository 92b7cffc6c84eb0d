//===- InputArguments.h - options about a run's inputs ----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/tilewright/data/Inputs.h"

#include <CLI/CLI.hpp>

namespace tilewright {

/// --input --seed, as given; --shape comes from elsewhere.
struct InputArguments {
  std::vector<std::string> inputs;
  uint64_t seed = 0;

  void addTo(CLI::App &app);

  /// Errors: OptionInvalid, InputUnreadable.
  Result<InputOptions> resolve(const std::vector<std::string> &shapes) const;
};

/// Adds an option that may be given several times, one value each time.
CLI::Option *addRepeatable(CLI::App &app, const std::string &name,
                           std::vector<std::string> &values,
                           const std::string &description);

/// Adds --threads; 0 stands for as many as the process may use.
CLI::Option *addThreads(CLI::App &app, unsigned &threads,
                        const std::string &description);

/// Adds --device, the number of the GPU that runs a module for GPUs.
CLI::Option *addDevice(CLI::App &app, int &device);

} // namespace tilewright
