//===- InputArguments.cpp - options about a run's inputs ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/InputArguments.h"

namespace tilewright {

static constexpr unsigned mostThreads = 1024;

CLI::Option *addRepeatable(CLI::App &app, const std::string &name,
                           std::vector<std::string> &values,
                           const std::string &description) {
  return app.add_option(name, values, description)
      ->type_size(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option *addThreads(CLI::App &app, unsigned &threads,
                        const std::string &description) {
  return app.add_option("--threads", threads, description)
      ->check(CLI::Range(0U, mostThreads))
      ->type_name("N");
}

CLI::Option *addDevice(CLI::App &app, int &device) {
  return app
      .add_option("--device", device,
                  "Which GPU runs it, where there are several")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("N");
}

void InputArguments::addTo(CLI::App &app) {
  addRepeatable(app, "--input", inputs,
                "An input's data: NAME=@FILE.npy, NAME=zeros, NAME=ones or "
                "NAME=random. Inputs left out are random. Repeatable")
      ->type_name("NAME=DATA");
  app.add_option("--seed", seed, "Of the random data")->type_name("N");
}

Result<InputOptions>
InputArguments::resolve(const std::vector<std::string> &shapes) const {
  Result<std::vector<InputBinding>> bindings = parseInputs(inputs);
  if (!bindings) {
    return bindings.status();
  }
  Result<Shapes> sizes = parseShapes(shapes);
  if (!sizes) {
    return sizes.status();
  }
  return InputOptions{std::move(*bindings), std::move(*sizes), seed};
}

} // namespace tilewright
