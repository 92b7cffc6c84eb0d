//===- Context.h - a played device and what is on it ------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "targets/sim/Counters.h"
#include "targets/sim/DeviceMemory.h"
#include "targets/sim/Program.h"
#include "targets/sim/driver/DeviceTable.h"
#include "targets/sim/driver/Settings.h"
#include "targets/sim/driver/Stream.h"

#include <cuda.h>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <unordered_map>

namespace tilewright::sim {

struct Module;

/// What a CUfunction is.
struct Function {
  Module *module = nullptr;
  const Kernel *kernel = nullptr;
  int dynamicSharedLimit = 0; ///< bytes that a launch may ask for
};

/// What a CUmodule is.
struct Module {
  std::shared_ptr<const Instance> instance;
  std::map<std::string, std::unique_ptr<Function>> functions; ///< by name
};

/// Objects that a handle of the driver API is the address of.
template <typename T> class Handles {
public:
  T *add(std::unique_ptr<T> object) {
    T *handle = object.get();
    objects.emplace(handle, std::move(object));
    return handle;
  }
  /// \returns the object of that handle, or null.
  T *find(void *handle) const {
    auto found = objects.find(handle);
    return found == objects.end() ? nullptr : found->second.get();
  }
  bool remove(void *handle) { return objects.erase(handle) > 0; }
  void clear() { objects.clear(); }

private:
  std::unordered_map<void *, std::unique_ptr<T>> objects;
};

/// The primary context of one played device, which is the only one it has.
struct Context {
  const PlayedDevice *device = nullptr;
  unsigned references = 0;

  Settings settings;
  std::unique_ptr<DeviceMemory> memory;
  std::map<CUdeviceptr, uint64_t> lives; ///< buffers: begin and bytes
  Scheduler scheduler;
  Stream *defaultStream = nullptr;
  Handles<Event> events;
  Handles<Module> modules;
  std::set<const Function *> functions;
  Handles<Graph> graphs;
  Handles<std::shared_ptr<const Graph>> executables;

  /// The first failed work; what comes after it is not done.
  CUresult error = CUDA_SUCCESS;
  std::string finding;

  /// Reads the settings and begins anew.
  CUresult open();
  void close();

  void fail(CUresult result, std::string text);

  /// \returns the stream of a handle, or null. The handle 0 is the default
  /// stream.
  Stream *stream(CUstream handle);

  /// Puts work on a stream. What is on the default stream waits for all
  /// blocking streams and is done at once.
  CUresult submit(Stream *stream, Work work);

  /// Begins the life of a buffer and ends those that it overlaps.
  void beginLife(CUdeviceptr begin, uint64_t bytes, const std::string &label);
  /// Ends the life of the buffer that begins there, if there is one.
  void endLife(CUdeviceptr begin);
  /// Ends the lives of buffers in [begin, begin + bytes).
  void endLives(CUdeviceptr begin, uint64_t bytes);
};

/// All devices and what they share.
struct Machine {
  std::recursive_mutex mutex;
  bool isInitialised = false;
  std::unique_ptr<Context[]> contexts; ///< one per played device
  /// Page-locked memory of the processor: begin and bytes.
  std::map<const char *, size_t> pinned;
  Counters counters;
  uint64_t launches = 0;

  static Machine &get();
  bool isPinned(const void *data) const;
};

/// The calling thread's current context, or null.
extern thread_local Context *currentContext;

/// Why the thread's last attempt to open a context failed; else empty.
extern thread_local std::string openFailure;

/// Calls `body` with the machine locked, once it is initialised.
template <typename Body> CUresult withMachine(Body &&body) {
  Machine &machine = Machine::get();
  std::lock_guard<std::recursive_mutex> lock(machine.mutex);
  if (!machine.isInitialised) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  try {
    return body(machine);
  } catch (const std::bad_alloc &) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

/// Calls `body` with the current context, whether or not it has failed.
template <typename Body> CUresult withContextAnyway(Body &&body) {
  return withMachine([&](Machine &) -> CUresult {
    return currentContext && currentContext->references > 0
               ? body(*currentContext)
               : CUDA_ERROR_INVALID_CONTEXT;
  });
}

/// Calls `body` with the current context unless it has failed; a failure in
/// `body` itself counts too.
template <typename Body> CUresult withContext(Body &&body) {
  return withContextAnyway([&](Context &context) -> CUresult {
    if (context.error != CUDA_SUCCESS) {
      return context.error;
    }
    CUresult result = body(context);
    return context.error != CUDA_SUCCESS ? context.error : result;
  });
}

} // namespace tilewright::sim
