//===- ModulesTest.cpp - one module, many uses ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "test/e2e/Models.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

namespace fs = std::filesystem;
using namespace tilewright;
using namespace tilewright::test;

/// A run of a case, with what must come out.
struct Exchange {
  Tensors inputs, expected;
};

static std::vector<Exchange> readRuns(const std::string &id,
                                      const Module &module) {
  std::vector<Exchange> runs;
  fs::path folder = caseModel(id).parent_path();
  for (int number = 1;; ++number) {
    fs::path each =
        number == 1 ? folder : folder / ("run_" + std::to_string(number));
    if (!fs::exists(each)) {
      return runs;
    }
    runs.push_back({readTensors(each, "input", module.inputs()),
                    readTensors(each, "output", module.outputs())});
  }
}

/// \returns how many of `calls` runs give what they should.
static int countRight(Context &context, const std::vector<Exchange> &runs,
                      int first, int calls) {
  int right = 0;
  for (int call = 0; call < calls; ++call) {
    const Exchange &each =
        runs[static_cast<size_t>(first + call) % runs.size()];
    auto outputs = context.run(viewsOf(each.inputs));
    right += outputs && outputs->size() == 1 &&
             largestDifference((*outputs)[0], each.expected[0]) <= 1e-5;
  }
  return right;
}

static void driveFromThreads(const std::function<Context &(size_t)> &contextOf,
                             const std::vector<Exchange> &runs) {
  std::vector<int> right(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      right[t] = countRight(contextOf(t), runs, static_cast<int>(t), 300);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, std::vector<int>(8, 300));
}

TEST(Modules, EightThreadsWithContextsOfTheirOwn) {
  auto module = compile(caseModel("THREADS"));
  ASSERT_TRUE(module);
  std::vector<Exchange> runs = readRuns("THREADS", *module);
  ASSERT_EQ(runs.size(), 8U);
  std::vector<std::unique_ptr<Context>> contexts;
  for (unsigned i = 0; i < 8; ++i) {
    contexts.push_back(std::move(*Context::create(module, {1 + i % 2})));
  }
  driveFromThreads([&](size_t i) -> Context & { return *contexts[i]; }, runs);
}

TEST(Modules, EightThreadsWithOneContext) {
  auto module = compile(caseModel("THREADS"));
  ASSERT_TRUE(module);
  std::vector<Exchange> runs = readRuns("THREADS", *module);
  auto context = std::move(*Context::create(module, {2}));
  driveFromThreads([&](size_t) -> Context & { return *context; }, runs);
}

TEST(Modules, CompilingTwiceGivesTheSameBytes) {
  for (const char *id :
       {"THREADS", "CONV_BN_BIAS", "DQ_BLOCKED", "EINSUM", "IF_CAPTURE",
        "LOOP_OPTIONALS", "LSTM_PEEP", "RSZ_LINEAR_MODES", "ZERO_SIZE_OPS"}) {
    CompileOptions one, four;
    one.threads = 1;
    four.threads = 4;
    auto first = compileModel(caseModel(id).string(), one);
    auto second = compileModel(caseModel(id).string(), four);
    ASSERT_TRUE(first && second) << id;
    EXPECT_TRUE(first->module == second->module)
        << id << ": " << first->module.size() << " and "
        << second->module.size() << " bytes";
  }
}

TEST(Modules, TakesKernelsOfEarlierCompiles) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(testing::TempDir()) / "objects";
  fs::remove_all(folder);
  std::string model = caseModel("CONV_BN_BIAS").string();
  auto plain = compileModel(model, CompileOptions());
  CompileOptions options;
  options.objectFolder = folder;
  auto first = compileModel(model, options);
  ASSERT_TRUE(plain && first);
  EXPECT_TRUE(plain->module == first->module);
  auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::vector<fs::path> objects;
  for (const auto &entry : fs::directory_iterator(folder)) {
    objects.push_back(entry.path());
    fs::last_write_time(entry.path(), old);
  }
  // One for the model, and those that fold its constants.
  EXPECT_GT(objects.size(), 1U);
  auto second = compileModel(model, options);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->module == first->module);
  for (const fs::path &object : objects) {
    EXPECT_GT(fs::last_write_time(object), old) << object;
    std::fstream file(object, std::ios::in | std::ios::out);
    file.seekp(100).put('x'); // damage
  }
  auto third = compileModel(model, options);
  ASSERT_TRUE(third);
  EXPECT_TRUE(third->module == first->module);
  fs::remove_all(folder);
}

TEST(Modules, CompilingInSeveralThreadsGivesTheSameBytes) {
  std::vector<std::vector<std::byte>> modules(4);
  std::vector<std::thread> threads;
  for (auto &each : modules) {
    threads.emplace_back([&each] {
      CompileOptions options;
      options.threads = 1;
      auto compiled = compileModel(caseModel("CONV_BN_BIAS").string(), options);
      if (compiled) {
        each = std::move(compiled->module);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  ASSERT_FALSE(modules[0].empty());
  for (const auto &each : modules) {
    EXPECT_TRUE(each == modules[0]);
  }
}
