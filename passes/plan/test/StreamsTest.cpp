//===- StreamsTest.cpp - what streams and events keep in order -*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Streams.h"
#include "passes/plan/Dependences.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace tilewright;
using namespace tilewright::plan;

namespace {

/// A function of launches over arena and owned values.
class TestPlan {
public:
  TestPlan() { input = value(format::Storage_Parameter, 0); }

  uint32_t value(format::Storage storage, uint32_t index) {
    auto value = std::make_unique<format::ValueT>();
    value->storage = storage;
    value->index = index;
    plan.values.push_back(std::move(value));
    return static_cast<uint32_t>(plan.values.size()) - 1;
  }

  /// A value in a buffer of its own.
  uint32_t buffer() {
    uint32_t now = static_cast<uint32_t>(function.commands.size());
    function.buffers.emplace_back(0, now, now);
    return value(format::Storage_Arena,
                 static_cast<uint32_t>(function.buffers.size()) - 1);
  }

  /// A launch that reads `inputs` and writes `outputs`; extends lives.
  void launch(std::vector<uint32_t> inputs, std::vector<uint32_t> outputs,
              double time = 10) {
    uint32_t now = static_cast<uint32_t>(function.commands.size());
    format::LaunchT launch;
    launch.args = inputs;
    launch.args.insert(launch.args.end(), outputs.begin(), outputs.end());
    launch.results = static_cast<uint32_t>(outputs.size());
    for (uint32_t id : launch.args) {
      const format::ValueT &root = *plan.values[rootOf(plan, id)];
      if (root.storage == format::Storage_Arena) {
        format::Buffer &own = function.buffers[root.index];
        own = format::Buffer(own.bytes(), own.first(), now);
      }
    }
    auto command = std::make_unique<format::CommandT>();
    command->body.Set(std::move(launch));
    function.commands.push_back(std::move(command));
    times.push_back(time);
  }

  void assign(unsigned streams = 4) {
    StreamOptions options;
    options.streams = streams;
    spans = assignStreams(plan, function, times, options);
    order();
  }

  bool isBefore(uint32_t a, uint32_t b) const { return before[b].count(a); }
  size_t waits() const {
    size_t count = 0;
    for (auto &command : function.commands) {
      count += command->waits.size();
    }
    return count;
  }

  format::PlanT plan;
  format::FunctionT function;
  std::vector<double> times;
  std::vector<CommandSpan> spans;
  uint32_t input = 0;

private:
  /// What happens before each command, by streams and events alone.
  void order() {
    std::map<uint32_t, uint32_t> lastOnStream, recorder;
    before.assign(function.commands.size(), {});
    for (uint32_t i = 0; i < function.commands.size(); ++i) {
      format::CommandT &command = *function.commands[i];
      auto follow = [&](uint32_t earlier) {
        before[i].insert(earlier);
        before[i].insert(before[earlier].begin(), before[earlier].end());
      };
      if (lastOnStream.count(command.stream)) {
        follow(lastOnStream[command.stream]);
      }
      for (uint32_t event : command.waits) {
        ASSERT_TRUE(recorder.count(event)) << "waits for nothing";
        follow(recorder[event]);
      }
      lastOnStream[command.stream] = i;
      if (command.records >= 0) {
        recorder[static_cast<uint32_t>(command.records)] = i;
      }
    }
  }

  std::vector<std::set<uint32_t>> before;
};

} // namespace

TEST(Streams, ChainsStayOnOneStream) {
  TestPlan p;
  uint32_t last = p.input;
  for (int i = 0; i < 5; ++i) {
    uint32_t next = p.buffer();
    p.launch({last}, {next});
    last = next;
  }
  p.assign();
  EXPECT_EQ(p.function.streams, 1U);
  EXPECT_EQ(p.function.events, 0U);
}

TEST(Streams, BranchesOverlapAndMeet) {
  TestPlan p;
  uint32_t a = p.buffer();
  p.launch({p.input}, {a});
  uint32_t left = p.buffer();
  p.launch({a}, {left}, 100);
  uint32_t right = p.buffer();
  p.launch({a}, {right}, 100);
  uint32_t sum = p.buffer();
  p.launch({left, right}, {sum});
  p.assign();
  EXPECT_EQ(p.function.streams, 2U);
  EXPECT_FALSE(p.isBefore(1, 2));
  EXPECT_TRUE(p.isBefore(1, 3) && p.isBefore(2, 3) && p.isBefore(0, 2));
  EXPECT_EQ(p.waits(), 2U); // one to branch, one to meet
  EXPECT_LT(p.spans[3].end, 150);
}

TEST(Streams, ShortBranchesAreNotWorthAnEvent) {
  TestPlan p;
  uint32_t a = p.buffer();
  p.launch({p.input}, {a});
  uint32_t left = p.buffer();
  p.launch({a}, {left}, 1);
  uint32_t right = p.buffer();
  p.launch({a}, {right}, 1);
  p.assign();
  EXPECT_EQ(p.function.streams, 1U);
}

TEST(Streams, PartsOfAConcatenationAreWrittenAtOnce) {
  TestPlan p;
  uint32_t whole = p.buffer();
  uint32_t first = p.value(format::Storage_Alias, whole);
  uint32_t second = p.value(format::Storage_Alias, whole);
  uint32_t x = p.buffer();
  p.launch({p.input}, {x});
  p.launch({x}, {first}, 100);
  p.launch({x}, {second}, 100);
  uint32_t out = p.buffer();
  p.launch({whole}, {out});
  p.assign();
  EXPECT_FALSE(p.isBefore(1, 2));
  EXPECT_TRUE(p.isBefore(1, 3) && p.isBefore(2, 3));
  // The whole begins its life before either.
  EXPECT_EQ(p.function.buffers[0].first(), 0U);
}

TEST(Streams, PartsWithNothingBeforeThemAreInOrder) {
  TestPlan p;
  uint32_t whole = p.buffer();
  uint32_t first = p.value(format::Storage_Alias, whole);
  uint32_t second = p.value(format::Storage_Alias, whole);
  p.launch({p.input}, {first}, 100);
  p.launch({p.input}, {second}, 100);
  p.assign();
  EXPECT_TRUE(p.isBefore(0, 1));
}

TEST(Streams, TheFirstPartOfAnOwnedValueComesBeforeTheOthers) {
  TestPlan p;
  uint32_t x = p.buffer();
  p.launch({p.input}, {x});
  uint32_t whole = p.value(format::Storage_Owned, 0);
  p.launch({x}, {whole}, 100);
  p.launch({x}, {whole}, 100);
  p.assign();
  EXPECT_TRUE(p.isBefore(1, 2));
}

TEST(Streams, WhatIsOverwrittenHasBeenRead) {
  TestPlan p;
  uint32_t a = p.buffer();
  p.launch({p.input}, {a});
  uint32_t reader = p.buffer();
  p.launch({a}, {reader}, 100);
  uint32_t over = p.value(format::Storage_Alias, a);
  p.launch({a}, {over}, 100); // in place
  p.assign();
  EXPECT_TRUE(p.isBefore(1, 2));
}

TEST(Streams, EventsThatFollowFromOthersAreLeftOut) {
  // Both of the last two need the first branch; the second has waited already.
  TestPlan p;
  uint32_t a = p.buffer();
  p.launch({p.input}, {a}, 100);
  uint32_t b = p.buffer();
  p.launch({p.input}, {b}, 100);
  uint32_t c = p.buffer();
  p.launch({a, b}, {c}, 10);
  uint32_t d = p.buffer();
  p.launch({a, b, c}, {d}, 10);
  p.assign();
  EXPECT_EQ(p.waits(), 1U);
}

TEST(Streams, RandomPlansKeepEverythingInOrder) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](size_t n) { return random() % n; };
    TestPlan p;
    std::vector<uint32_t> alive = {p.input}, owned, roots;
    for (size_t i = 0, n = 3 + below(25); i < n; ++i) {
      std::vector<uint32_t> inputs;
      for (size_t k = 0, count = 1 + below(3); k < count; ++k) {
        inputs.push_back(alive[below(alive.size())]);
      }
      uint32_t out = 0;
      size_t kind = below(4);
      if (kind == 0 && inputs.front() != p.input) {
        out = p.value(format::Storage_Alias, inputs.front());
      } else if (kind == 1) {
        out = p.value(format::Storage_Owned, 0);
        owned.push_back(out);
      } else if (kind == 2 && below(2) && !roots.empty()) {
        // A part of something that is written already.
        out = p.value(format::Storage_Alias, roots[below(roots.size())]);
      } else {
        out = p.buffer();
        roots.push_back(out);
      }
      p.launch(inputs, {out}, 1 + double(below(60)));
      alive.push_back(out);
    }
    for (uint32_t root : owned) { // released at its last use
      for (size_t i = p.function.commands.size(); i-- > 0;) {
        const auto &args = p.function.commands[i]->body.AsLaunch()->args;
        if (std::any_of(args.begin(), args.end(), [&](uint32_t v) {
              return rootOf(p.plan, v) == root;
            })) {
          p.function.commands[i]->release.push_back(root);
          break;
        }
      }
    }
    auto dependences = dependencesOf(p.plan, p.function);
    p.assign(2 + below(4));
    std::map<uint32_t, std::vector<uint32_t>> usesOfRoot, usesOfBuffer;
    for (uint32_t i = 0; i < p.function.commands.size(); ++i) {
      for (uint32_t earlier : dependences[i]) {
        EXPECT_TRUE(p.isBefore(earlier, i)) << seed;
      }
      for (uint32_t v : p.function.commands[i]->body.AsLaunch()->args) {
        uint32_t root = rootOf(p.plan, v);
        usesOfRoot[root].push_back(i);
        if (p.plan.values[root]->storage == format::Storage_Arena) {
          usesOfBuffer[p.plan.values[root]->index].push_back(i);
        }
      }
    }
    // A buffer's life has begun before each of its uses.
    for (auto &[buffer, uses] : usesOfBuffer) {
      for (uint32_t use : uses) {
        uint32_t first = p.function.buffers[buffer].first();
        EXPECT_TRUE(use == first || p.isBefore(first, use)) << seed;
      }
    }
    // Buffers that may share memory are used one after the other.
    for (auto &[a, usesOfA] : usesOfBuffer) {
      for (auto &[b, usesOfB] : usesOfBuffer) {
        if (p.function.buffers[a].last() >= p.function.buffers[b].first()) {
          continue;
        }
        for (uint32_t first : usesOfA) {
          for (uint32_t second : usesOfB) {
            EXPECT_TRUE(p.isBefore(first, second)) << seed;
          }
        }
      }
    }
    for (uint32_t i = 0; i < p.function.commands.size(); ++i) {
      for (uint32_t value : p.function.commands[i]->release) {
        for (uint32_t use : usesOfRoot[value]) {
          EXPECT_TRUE(use == i || p.isBefore(use, i)) << seed;
        }
      }
    }
  }
}
