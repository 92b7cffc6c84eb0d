//===- Program.cpp - PTX text, parsed and decoded -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/Program.h"

#include "targets/sim/DeviceMemory.h"
#include "targets/sim/decode/Decoder.h"

#include <algorithm>
#include <cstring>

using namespace tilewright;
using namespace tilewright::sim;

namespace tilewright::sim {
/// Puts a Program together from the syntax of its module.
class ProgramBuilder {
public:
  ProgramBuilder(const ptx::Module &module,
                 std::shared_ptr<const std::string> text)
      : module(module), text(std::move(text)) {}

  Result<std::shared_ptr<const Program>> run() {
    program->architecture = module.architecture;
    program->specific = module.architectureSpecific;
    symbols.module = &module;
    TW_RETURN_IF_ERROR(addVariables());
    for (const ptx::Function &function : module.functions) {
      if (!function.hasBody) {
        continue;
      }
      if (!function.isEntry) {
        symbols.functions.emplace(function.name, &function);
      } else if (!entries.emplace(function.name, &function).second) {
        return error(function.line, "the entry point '" +
                                        std::string(function.name) +
                                        "' is defined twice");
      }
    }
    for (const ptx::Function &function : module.functions) {
      if (function.isEntry && function.hasBody) {
        Result<Kernel> kernel = Decoder(symbols, text).run(function);
        if (!kernel) {
          return kernel.status();
        }
        program->entries.push_back(std::move(*kernel));
      }
    }
    return std::shared_ptr<const Program>(std::move(program));
  }

private:
  static Status error(uint32_t line, const std::string &what) {
    return {ErrorCode::ModuleDamaged,
            "PTX line " + std::to_string(line) + ": " + what};
  }

  Status addVariables() {
    for (const ptx::Variable &variable : module.variables) {
      if (variable.space == ptx::Space::Shared) {
        symbols.shared.emplace(variable.name, &variable);
      } else if (!variable.isExtern) {
        bool isNew =
            symbols.variables
                .emplace(variable.name, uint32_t(program->globals.size()))
                .second;
        if (!isNew) {
          return error(variable.line, "the variable '" +
                                          std::string(variable.name) +
                                          "' is defined twice");
        }
        ModuleVariable global;
        global.name = std::string(variable.name);
        global.constant = variable.space == ptx::Space::Const;
        global.bytes = variable.bytes();
        global.alignment = variable.alignment;
        program->globals.push_back(std::move(global));
      }
    }
    size_t index = 0;
    for (const ptx::Variable &variable : module.variables) {
      if (variable.space != ptx::Space::Shared && !variable.isExtern) {
        TW_RETURN_IF_ERROR(addInitial(variable, program->globals[index++]));
      }
    }
    return Status::ok();
  }

  Status addInitial(const ptx::Variable &variable, ModuleVariable &global) {
    unsigned bytes = ptx::bytesOf(variable.type);
    if (variable.initial.size() > variable.elements * variable.vector) {
      return error(variable.line,
                   "'" + global.name +
                       "' has more initial values than elements");
    }
    global.initial.assign(variable.initial.size() * bytes, 0);
    for (size_t i = 0; i < variable.initial.size(); ++i) {
      const ptx::Variable::Initial &initial = variable.initial[i];
      if (!initial.isAddress) {
        uint64_t bits = initial.bits;
        std::memcpy(&global.initial[i * bytes], &bits,
                    std::min<size_t>(bytes, sizeof(bits)));
        continue;
      }
      auto found = symbols.variables.find(initial.symbol);
      if (bytes != 8 || found == symbols.variables.end()) {
        return error(variable.line, "'" + global.name +
                                        "' is initialised with what is not "
                                        "the address of a global variable");
      }
      global.relocations.push_back({i * bytes, found->second, initial.addend});
    }
    return Status::ok();
  }

  const ptx::Module &module;
  std::shared_ptr<const std::string> text;
  ModuleSymbols symbols;
  std::unordered_map<std::string_view, const ptx::Function *> entries;
  std::shared_ptr<Program> program = std::make_shared<Program>();
};
} // namespace tilewright::sim

Result<std::shared_ptr<const Program>> Program::parse(std::string_view ptx) {
  // A text from a C interface may end in its null character.
  while (!ptx.empty() && ptx.back() == '\0') {
    ptx.remove_suffix(1);
  }
  auto text = std::make_shared<const std::string>(ptx);
  Result<ptx::Module> module = ptx::parseModule(*text);
  if (!module) {
    return module.status();
  }
  return ProgramBuilder(*module, text).run();
}

const Kernel *Program::find(std::string_view entry) const {
  for (const Kernel &kernel : entries) {
    if (kernel.name == entry) {
      return &kernel;
    }
  }
  return nullptr;
}

Result<std::shared_ptr<const Instance>>
Instance::load(std::shared_ptr<const Program> program, DeviceMemory &memory) {
  std::shared_ptr<Instance> instance(new Instance(std::move(program), memory));
  const std::vector<ModuleVariable> &variables = instance->source->variables();
  for (const ModuleVariable &variable : variables) {
    Result<DeviceAddress> address =
        memory.allocate(variable.bytes, variable.name);
    if (!address) {
      return address.status();
    }
    instance->addresses.push_back(*address);
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    const ModuleVariable &variable = variables[i];
    std::vector<uint8_t> contents = variable.initial;
    for (const ModuleVariable::Relocation &relocation : variable.relocations) {
      uint64_t target = instance->addresses[relocation.variable] +
                        uint64_t(relocation.addend);
      std::memcpy(&contents[relocation.offset], &target, sizeof(target));
    }
    if (variable.bytes != 0) {
      TW_RETURN_IF_ERROR(
          memory.fill(instance->addresses[i], 0, 1, variable.bytes));
    }
    TW_RETURN_IF_ERROR(
        memory.write(instance->addresses[i], contents.data(), contents.size()));
  }
  return std::shared_ptr<const Instance>(std::move(instance));
}

Instance::~Instance() {
  for (uint64_t address : addresses) {
    // Each came from this memory, so that freeing cannot fail.
    (void)memory.free(address);
  }
}
