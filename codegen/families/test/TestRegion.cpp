//===- TestRegion.cpp - build, compile and run regions in tests -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/test/TestRegion.h"

#include "codegen/families/KernelLibrary.h"
#include "codegen/families/Tactics.h"
#include "codegen/families/contract/Packing.h"
#include "passes/tile/SelectTactic.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace tilewright::test {

std::vector<Variant> everyVariant() {
  std::vector<Variant> variants;
  for (const TargetSpec *target : everyLevel()) {
    variants.push_back({target, false});
    variants.push_back({target, true});
  }
  return variants;
}

std::string variantName(const testing::TestParamInfo<Variant> &info) {
  std::string name(info.param.target->name);
  for (char &c : name) {
    c = c == '-' ? '_' : c;
  }
  return name + (info.param.reference ? "_reference" : "_best");
}

using Symbols = std::map<std::string, int64_t>;

static std::function<int64_t(const Symbols &)> evaluator(tw::DimExpr expr) {
  return [expr](const Symbols &symbols) -> int64_t {
    std::optional<int64_t> value =
        expr.evaluate([&](StringRef name) -> std::optional<int64_t> {
          auto it = symbols.find(name.str());
          return it == symbols.end() ? std::nullopt : std::optional(it->second);
        });
    EXPECT_TRUE(value) << "no value for " << expr.toString();
    return value.value_or(0);
  };
}

std::unique_ptr<RunnableRegion> RegionTest::compile(const std::string &text) {
  DialectRegistry dialects;
  registerCpuDialects(dialects);
  dialects.insert<tw::TwDialect, func::FuncDialect>();
  auto context = std::make_shared<MLIRContext>(dialects);
  context->loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, context.get());
  if (!module) {
    ADD_FAILURE() << "the region does not parse";
    return nullptr;
  }
  DecisionLog log;
  Status selected =
      isReference() ? Status::ok() : packConstants(*module, target(), log);
  if (selected) {
    selected =
        selectTactics(*module, target(), familyTactics(), isReference(), log);
  }
  if (!selected) {
    ADD_FAILURE() << selected.toString();
    return nullptr;
  }
  tw::FusedOp region;
  module->walk([&](tw::FusedOp op) { region = op; });
  const Tactic *tactic = familyTactics().find(region);
  Result<Launch> launch = tactic->launch(region);
  KernelLibrary library(familyTactics(), target());
  OwningOpRef<ModuleOp> kernels =
      ModuleOp::create(UnknownLoc::get(context.get()));
  Result<std::string> name = library.add(region, *kernels);
  if (!launch || !name) {
    ADD_FAILURE() << (launch ? name.status() : launch.status()).toString();
    return nullptr;
  }
  if (getenv("TILEWRIGHT_SHOW_KERNELS")) {
    kernels->dump();
  }
  Result<CpuImage> image = compileKernels(*kernels, target());
  if (!image) {
    ADD_FAILURE() << image.status().message();
    kernels->dump();
    return nullptr;
  }
  if (!runsOnHost(target())) {
    [&] {
      GTEST_SKIP() << "this machine lacks " << target().name
                   << "; compiled only";
    }();
    return nullptr;
  }
  auto result = std::make_unique<RunnableRegion>();
  result->image = std::make_unique<LoadedImage>(*image);
  result->kernel = *name;
  result->tactic = tactic->name().str();
  for (Type type : region.getInputs().getTypes()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    result->operandDims.emplace_back(shape.begin(), shape.end());
  }
  for (tw::DimExpr size : launch->sizes) {
    result->sizes.push_back(evaluator(size));
  }
  result->tasks = evaluator(launch->tasks);
  result->workspace = evaluator(launch->workspaceBytes);
  result->context = context;
  return result->image->isLoaded() ? std::move(result) : nullptr;
}

int RunnableRegion::run(std::vector<void *> buffers, const Symbols &symbols) {
  std::vector<int64_t> values;
  for (auto &size : sizes) {
    values.push_back(size(symbols));
  }
  EXPECT_LE(workspace(symbols), 1 << 16);
  int64_t count = tasks(symbols), half = count / 2;
  int first = image->call(kernel, buffers, values, half, count);
  int second = image->call(kernel, buffers, values, 0, half);
  return first ? first : second;
}

} // namespace tilewright::test
