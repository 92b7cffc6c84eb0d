//===- SimtRegion.cpp - regions on the simulated GPU in tests -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/SimtRegion.h"

#include "codegen/families/KernelLibrary.h"
#include "codegen/families/Tactics.h"
#include "ir/BodyBuilder.h"
#include "ir/SmallFloat.h"
#include "passes/tile/DroppedTiles.h"
#include "passes/tile/SelectTactic.h"
#include "targets/sim/Execute.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cstring>

using namespace mlir;

namespace tilewright::test {

bool hasCudaCompiler() { return Nvrtc::open().isOk(); }

static void widenBytes(ModuleOp module) {
  SmallVector<arith::ExtFOp> conversions;
  module.walk([&](arith::ExtFOp op) {
    if (op.getIn().getType().getIntOrFloatBitWidth() == 8) {
      conversions.push_back(op);
    }
  });
  for (arith::ExtFOp op : conversions) {
    OpBuilder at(op);
    tw::BodyBuilder builder(op.getLoc(), at);
    op.replaceAllUsesWith(tw::widenSmallFloat(builder, op.getIn()));
    op.erase();
  }
}

std::unique_ptr<SimtRegion>
SimtRegion::compile(const std::string &text, const TargetSpec &target,
                    std::function<DictionaryAttr(MLIRContext *)> parameters) {
  DialectRegistry dialects;
  dialects.insert<tw::TwDialect, twk::TwkDialect, func::FuncDialect,
                  arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  memref::MemRefDialect, vector::VectorDialect, gpu::GPUDialect,
                  nvgpu::NVGPUDialect>();
  auto result = std::make_unique<SimtRegion>();
  result->context =
      std::make_shared<MLIRContext>(dialects, MLIRContext::Threading::DISABLED);
  result->context->loadAllAvailableDialects();
  result->module = parseSourceString<ModuleOp>(text, result->context.get());
  if (!result->module) {
    ADD_FAILURE() << "the region does not parse:\n" << text;
    return nullptr;
  }
  widenBytes(*result->module);
  DecisionLog log;
  Status selected = selectTactics(*result->module, target, familyTactics(),
                                  /*referenceOnly=*/false, log);
  tw::FusedOp region;
  result->module->walk([&](tw::FusedOp op) { region = op; });
  if (selected && parameters) {
    region.setTacticAttr(parameters(result->context.get()));
  }
  const Tactic *tactic = selected ? familyTactics().find(region) : nullptr;
  if (!tactic) {
    ADD_FAILURE() << "no tactic: " << selected.message();
    return nullptr;
  }
  result->tactic = tactic->name().str();
  result->computeCapability = target.gpu->computeCapability;
  while (true) {
    if (!result->build(region, target)) {
      return nullptr;
    }
    // As the compiler does.
    uint32_t spills = result->kernel.binary.spillBytes;
    if (spills == 0 || parameters) {
      return result;
    }
    Result<bool> dropped =
        dropTile(region, target, familyTactics(), spills, log);
    if (!dropped || !*dropped) {
      return result;
    }
  }
}

bool SimtRegion::build(tw::FusedOp region, const TargetSpec &target) {
  parameters = cast<DictionaryAttr>(*region.getTactic());
  Result<Launch> declared = familyTactics().find(region)->launch(region);
  KernelLibrary library(familyTactics(), target);
  OwningOpRef<ModuleOp> kernels =
      ModuleOp::create(UnknownLoc::get(context.get()));
  Result<std::string> name = library.add(region, *kernels);
  if (!declared || !name) {
    ADD_FAILURE() << (declared ? name.status() : declared.status()).toString();
    return false;
  }
  if (failed(verify(*kernels))) {
    ADD_FAILURE() << "the kernel is not valid";
    return false;
  }
  CudaOptions options;
  options.threads = 1;
  options.dump = [](const std::string &, const std::string &source) {
    if (getenv("TILEWRIGHT_SHOW_KERNELS")) {
      fprintf(stderr, "%s\n", source.c_str());
    }
    return Status::ok();
  };
  Result<std::vector<CudaKernel>> compiled =
      compileCuda(*kernels, target, options);
  if (!compiled) {
    ADD_FAILURE() << compiled.status().message();
    return false;
  }
  launch = *declared;
  kernel = compiled->front();
  auto parsed = sim::Program::parse(kernel.binary.ptx);
  if (!parsed) {
    ADD_FAILURE() << parsed.status().message();
    return false;
  }
  program = *parsed;
  return true;
}

int SimtRegion::run(std::vector<std::vector<uint8_t>> &buffers, size_t outputs,
                    const Symbols &symbols) {
  auto valueOf = [&](tw::DimExpr expr) {
    std::optional<int64_t> value =
        expr.evaluate([&](StringRef name) -> std::optional<int64_t> {
          auto it = symbols.find(name.str());
          return it == symbols.end() ? std::nullopt : std::optional(it->second);
        });
    EXPECT_TRUE(value) << "no value for " << expr.toString();
    return value.value_or(0);
  };
  auto memory = std::move(*sim::DeviceMemory::create(uint64_t(1) << 30));
  auto instance = sim::Instance::load(program, *memory);
  EXPECT_TRUE(instance) << instance.status().message();
  std::vector<uint64_t> values, addresses;
  size_t number = 0;
  for (auto &buffer : buffers) {
    auto base =
        memory->allocate(buffer.size(), "buffer " + std::to_string(number));
    addresses.push_back(*base);
    if (number++ + outputs < buffers.size()) {
      EXPECT_TRUE(
          memory->write(addresses.back(), buffer.data(), buffer.size()));
    }
    values.push_back(addresses.back());
  }
  for (tw::DimExpr size : launch.sizes) {
    values.push_back(valueOf(size));
  }
  int64_t blocks = valueOf(launch.tasks);
  values.push_back(blocks);
  auto workspace =
      memory->allocate(valueOf(launch.workspaceBytes), "workspace");
  auto status = memory->allocate(4, "status");
  int code = 0;
  EXPECT_TRUE(memory->write(*status, &code, 4));
  values.push_back(*workspace);
  values.push_back(*status);
  const sim::Kernel *entry = program->find(kernel.name);
  EXPECT_TRUE(entry && entry->parameters.size() == values.size());
  std::vector<uint8_t> block(entry->parameterBytes);
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(&block[entry->parameters[i].offset], &values[i], 8);
  }
  sim::LaunchShape shape;
  shape.grid.x = blocks;
  shape.block.x = launch.threads;
  shape.sharedBytes = launch.shared;
  sim::ExecuteOptions options;
  options.threads = 1;
  options.computeCapability = computeCapability;
  options.blockOrderSeed = 7;
  counters = sim::Counters();
  if (blocks > 0) {
    sim::Fault fault;
    Status ran = sim::execute(**instance, *entry, shape, block.data(),
                              block.size(), *memory, options, counters, &fault);
    EXPECT_TRUE(ran) << ran.message();
  }
  for (size_t i = buffers.size() - outputs; i < buffers.size(); ++i) {
    Status read = memory->read(buffers[i].data(), addresses[i],
                               buffers[i].size(), /*checkInitialized=*/true);
    EXPECT_TRUE(read) << read.message();
  }
  EXPECT_TRUE(memory->read(&code, *status, 4));
  return code;
}

} // namespace tilewright::test
