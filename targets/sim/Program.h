//===- Program.h - PTX text, parsed and decoded -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The text that NVRTC emits becomes a Program once; a Program is immutable and
// may run on many devices and threads. Loading it into a device's memory gives
// an Instance, which owns the storage of the module's .global and .const
// variables there.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tilewright/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::sim {

class DeviceMemory;
struct Code;

/// A parameter of an entry point, in bytes of the parameter block.
struct KernelParameter {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint32_t alignment = 1;
};

/// An entry point, ready to run.
struct Kernel {
  std::string name;
  std::vector<KernelParameter> parameters;
  /// Size of the parameter block: the end of the last parameter.
  uint32_t parameterBytes = 0;
  /// Bytes of shared memory that the kernel declares, without dynamic ones.
  uint32_t staticSharedBytes = 0;
  /// Bytes of local memory per thread.
  uint32_t localBytes = 0;
  /// From .maxntid; 1024 without it.
  uint32_t maxThreads = 1024;
  /// Virtual registers in 32-bit units, before the simulator's allocation.
  uint32_t registers = 0;
  /// What the simulator executes.
  std::shared_ptr<const Code> code;
};

/// A variable of the module in global or constant memory.
struct ModuleVariable {
  std::string name;
  bool constant = false;
  uint64_t bytes = 0;
  uint64_t alignment = 1;
  /// Initial contents; zeros follow up to `bytes`.
  std::vector<uint8_t> initial;
  /// Places in `initial` that hold the address of another variable:
  /// (offset, index of the variable, addend).
  struct Relocation {
    uint64_t offset;
    uint32_t variable;
    int64_t addend;
  };
  std::vector<Relocation> relocations;
};

/// A PTX module.
class Program {
public:
  /// Parses and decodes `ptx`. Any bytes are accepted as input: text that is
  /// not PTX gives ModuleDamaged, and a correct instruction, directive or
  /// modifier that the simulator does not have gives UnsupportedInstruction;
  /// both name it and its line.
  static Result<std::shared_ptr<const Program>> parse(std::string_view ptx);

  /// \returns the entry point of that name, or null.
  const Kernel *find(std::string_view entry) const;

  const std::vector<Kernel> &kernels() const { return entries; }
  const std::vector<ModuleVariable> &variables() const { return globals; }

  /// The number after `.target sm_`, for example 80.
  uint32_t targetArchitecture() const { return architecture; }
  /// Whether the target has a suffix (sm_90a) and runs on that one alone.
  bool isArchitectureSpecific() const { return specific; }

private:
  friend class ProgramBuilder;
  std::vector<Kernel> entries;
  std::vector<ModuleVariable> globals;
  uint32_t architecture = 0;
  bool specific = false;
};

/// A Program with its variables in the memory of one device.
class Instance {
public:
  /// Allocates and fills the variables. `memory` must outlive the instance.
  static Result<std::shared_ptr<const Instance>>
  load(std::shared_ptr<const Program> program, DeviceMemory &memory);
  ~Instance();

  const Program &program() const { return *source; }
  /// \returns the device address of a variable by its index.
  uint64_t addressOf(size_t variable) const { return addresses[variable]; }

private:
  Instance(std::shared_ptr<const Program> program, DeviceMemory &memory)
      : source(std::move(program)), memory(memory) {}

  std::shared_ptr<const Program> source;
  DeviceMemory &memory;
  std::vector<uint64_t> addresses;
};

} // namespace tilewright::sim
