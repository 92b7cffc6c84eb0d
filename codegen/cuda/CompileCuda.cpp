//===- CompileCuda.cpp - kernels to cubin and PTX -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codegen/cuda/CompileCuda.h"
#include "ir/Locations.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace mlir;

namespace tilewright {

namespace {

/// Nothing is contracted but what a kernel says; division and square roots are
/// exact, and denormal numbers are kept.
const std::vector<std::string> compileOptions = {"--std=c++17", "--fmad=false"};

//===----------------------------------------------------------------------===//
// Entries of the cache
//===----------------------------------------------------------------------===//

/// What an entry begins with; the cubin and the PTX follow.
struct EntryHeader {
  char magic[8] = {'T', 'W', 'K', 'E', 'R', 'N', 'E', '1'};
  uint64_t hash = 0; ///< of what follows the header
  uint64_t cubinBytes = 0;
  uint64_t ptxBytes = 0;
  uint32_t registers = 0, spillBytes = 0, sharedBytes = 0, reserved = 0;
};

std::string keyOf(const std::string &code, const std::string &architecture,
                  const std::string &version) {
  std::string all = architecture + '\n' + version + '\n';
  for (const std::string &option : compileOptions) {
    all += option + '\n';
  }
  all += code;
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(all.data(), all.size()));
  std::string text;
  for (unsigned char byte : canonical.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string pack(const CudaBinary &binary) {
  std::string content = binary.cubin + binary.ptx;
  EntryHeader header;
  header.hash = XXH3_64bits(content.data(), content.size());
  header.cubinBytes = binary.cubin.size();
  header.ptxBytes = binary.ptx.size();
  header.registers = binary.registers;
  header.spillBytes = binary.spillBytes;
  header.sharedBytes = binary.sharedBytes;
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
  return bytes + content;
}

/// \returns nothing for an entry that is damaged.
std::optional<CudaBinary> unpack(const std::string &bytes) {
  EntryHeader header, expected;
  if (bytes.size() < sizeof header) {
    return std::nullopt;
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  const char *content = bytes.data() + sizeof header;
  size_t size = bytes.size() - sizeof header;
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.cubinBytes > size || header.ptxBytes != size - header.cubinBytes ||
      header.hash != XXH3_64bits(content, size)) {
    return std::nullopt;
  }
  CudaBinary binary;
  binary.cubin.assign(content, header.cubinBytes);
  binary.ptx.assign(content + header.cubinBytes, header.ptxBytes);
  binary.registers = header.registers;
  binary.spillBytes = header.spillBytes;
  binary.sharedBytes = header.sharedBytes;
  return binary;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

struct Job {
  twk::KernelOp op; ///< null for a source of the user's
  CudaKernel kernel;
  std::string code;  ///< what the binary depends on
  std::string nodes; ///< ONNX
  Status status;
};

class Compiler {
public:
  Compiler(const Nvrtc &nvrtc, const std::string &architecture,
           const CudaOptions &options, std::vector<Job> &jobs)
      : nvrtc(nvrtc), architecture(architecture), options(options), jobs(jobs) {
  }

  /// Takes kernel after kernel until none is left; for several threads.
  void run() {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      jobs[i].status = compile(jobs[i]);
    }
  }

  /// ptxas spills a few registers where that lets more blocks reside on a
  /// multiprocessor. Such a kernel is compiled again for a single one.
  void relax(Job &job);

private:
  Status compile(Job &job);

  const Nvrtc &nvrtc;
  const std::string &architecture;
  const CudaOptions &options;
  std::vector<Job> &jobs;
  std::atomic<size_t> next{0};
};

Status Compiler::compile(Job &job) {
  std::string key = keyOf(job.code, architecture, nvrtc.version());
  if (options.cache.find) {
    if (std::optional<std::string> bytes = options.cache.find(key)) {
      if (std::optional<CudaBinary> binary = unpack(*bytes)) {
        job.kernel.binary = std::move(*binary);
        return Status::ok();
      }
    }
  }
  auto start = std::chrono::steady_clock::now();
  Result<CudaBinary> binary = nvrtc.compile(
      job.kernel.source, job.kernel.name + ".cu", architecture, compileOptions);
  if (!binary) {
    std::string where =
        "kernel '" + job.kernel.name + "'" +
        (job.nodes.empty() ? "" : " (ONNX nodes: " + job.nodes + ")");
    bool isOurs = binary.status().code() == ErrorCode::KernelRejected && job.op;
    return Status(isOurs ? ErrorCode::Internal : binary.status().code(),
                  where + ": " + binary.status().message());
  }
  job.kernel.milliseconds = std::chrono::duration<double, std::milli>(
                                std::chrono::steady_clock::now() - start)
                                .count();
  job.kernel.binary = std::move(*binary);
  if (options.cache.store) {
    options.cache.store(key, pack(job.kernel.binary));
  }
  return Status::ok();
}

void Compiler::relax(Job &job) {
  bool mayRelax = job.status && job.op && job.kernel.binary.spillBytes > 0 &&
                  !job.op->hasAttr(twk::residentAttr);
  if (!mayRelax) {
    return;
  }
  job.op->setAttr(twk::residentAttr, Builder(job.op).getI64IntegerAttr(1));
  Result<CudaSource> source = printCuda(job.op);
  if (!source) {
    return;
  }
  Job again = job;
  again.kernel.source = source->text();
  again.code = std::move(source->code);
  again.kernel.milliseconds = 0;
  Status status = compile(again);
  double both = job.kernel.milliseconds + again.kernel.milliseconds;
  if (status && again.kernel.binary.spillBytes < job.kernel.binary.spillBytes) {
    job = std::move(again);
  }
  job.kernel.milliseconds = both;
}

Result<std::vector<Job>> printAll(ModuleOp kernels,
                                  const CudaOptions &options) {
  std::vector<Job> jobs;
  for (auto kernel : kernels.getOps<twk::KernelOp>()) {
    Job job;
    job.kernel.name = kernel.getSymName().str();
    job.nodes = llvm::join(tw::nodeNames(kernel.getLoc()), ", ");
    auto own = options.overrides.find(job.kernel.name);
    if (own != options.overrides.end()) {
      job.kernel.source = job.code = own->second;
    } else {
      job.op = kernel;
      Result<CudaSource> source = printCuda(kernel);
      TW_RETURN_IF_ERROR(source.status());
      job.kernel.source = source->text();
      job.code = std::move(source->code);
    }
    if (options.dump) {
      TW_RETURN_IF_ERROR(options.dump(job.kernel.name, job.kernel.source));
    }
    jobs.push_back(std::move(job));
  }
  for (const auto &[name, source] : options.overrides) {
    bool exists = llvm::any_of(
        jobs, [&, &name = name](Job &job) { return job.kernel.name == name; });
    if (!exists) {
      return Status(ErrorCode::KernelRejected,
                    "there is no kernel '" + name + "' to replace");
    }
  }
  return jobs;
}

} // namespace

Result<std::vector<CudaKernel>> compileCuda(ModuleOp kernels,
                                            const TargetSpec &target,
                                            const CudaOptions &options) {
  if (failed(prepareForCuda(kernels))) {
    return Status(ErrorCode::Internal, "a kernel is invalid");
  }
  Result<std::vector<Job>> jobs = printAll(kernels, options);
  TW_RETURN_IF_ERROR(jobs.status());
  std::vector<CudaKernel> results;
  if (jobs->empty()) {
    return results;
  }
  Result<const Nvrtc *> nvrtc = Nvrtc::open();
  TW_RETURN_IF_ERROR(nvrtc.status());
  std::string architecture(target.name);
  Compiler compiler(**nvrtc, architecture, options, *jobs);
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < options.threads && i < jobs->size(); ++i) {
    helpers.emplace_back([&] { compiler.run(); });
  }
  compiler.run();
  for (std::thread &helper : helpers) {
    helper.join();
  }
  for (Job &job : *jobs) {
    compiler.relax(job);
    TW_RETURN_IF_ERROR(job.status);
    results.push_back(std::move(job.kernel));
  }
  return results;
}

} // namespace tilewright
