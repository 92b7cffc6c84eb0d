//===- SchedulerTest.cpp - the order of work on streams -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Stream.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

using namespace tilewright::sim;

namespace {
/// Two streams whose work writes letters.
struct TwoStreams {
  explicit TwoStreams(uint64_t seed) {
    scheduler.reset(seed);
    first = scheduler.addStream(true);
    second = scheduler.addStream(true);
  }
  void put(Stream *stream, char letter) {
    scheduler.submit(*stream, [this, letter] { order += letter; });
  }

  Scheduler scheduler;
  Stream *first = nullptr;
  Stream *second = nullptr;
  std::string order;
};
} // namespace

TEST(Scheduler, StreamsKeepTheirOrderAndMixFreely) {
  std::set<std::string> orders;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    TwoStreams t(seed);
    t.put(t.first, 'a');
    t.put(t.first, 'b');
    t.put(t.second, 'x');
    t.put(t.second, 'y');
    EXPECT_EQ(t.order, ""); // Nothing is done before it has to be.
    t.scheduler.runAll();
    EXPECT_LT(t.order.find('a'), t.order.find('b'));
    EXPECT_LT(t.order.find('x'), t.order.find('y'));
    orders.insert(t.order);
  }
  EXPECT_EQ(orders.size(), 6u); // all that there are
}

TEST(Scheduler, SeedZeroIsTheOrderOfSubmission) {
  TwoStreams t(0);
  t.put(t.second, 'x');
  t.put(t.first, 'a');
  t.put(t.second, 'y');
  t.put(t.first, 'b');
  t.scheduler.runAll();
  EXPECT_EQ(t.order, "xayb");
}

TEST(Scheduler, EventsOrderStreams) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    TwoStreams t(seed);
    Event event;
    t.put(t.first, 'a');
    t.scheduler.record(*t.first, event);
    t.put(t.first, 'b');
    EXPECT_TRUE(t.scheduler.wait(*t.second, event));
    t.put(t.second, 'x');
    // Recording it again changes nothing for who waits already.
    t.scheduler.record(*t.first, event);
    t.scheduler.run(*t.second);
    EXPECT_LT(t.order.find('a'), t.order.find('x'));
    t.scheduler.runAll();
    EXPECT_EQ(t.order.size(), 3u);
  }
}

TEST(Scheduler, AnEventThatWasNeverRecordedIsNotWaitedFor) {
  TwoStreams t(1);
  Event event;
  EXPECT_TRUE(t.scheduler.wait(*t.second, event));
  t.put(t.second, 'x');
  t.scheduler.runAll();
  EXPECT_EQ(t.order, "x");
}

TEST(Scheduler, RunsNoMoreThanIsWaitedForWithSomeSeed) {
  bool left = false;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    TwoStreams t(seed);
    t.put(t.first, 'a');
    t.put(t.second, 'x');
    t.scheduler.run(*t.first);
    left = left || t.order == "a";
  }
  EXPECT_TRUE(left);
}

TEST(Scheduler, GraphsKeepDependences) {
  std::set<std::string> orders;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    TwoStreams t(seed);
    auto capture = std::make_shared<Capture>();
    capture->origin = t.first;
    capture->streams = {t.first};
    t.first->capture = capture;
    Event forked, joined;
    t.put(t.first, 'a');
    t.scheduler.record(*t.first, forked);
    EXPECT_TRUE(t.scheduler.wait(*t.second, forked));
    t.put(t.second, 'x');
    t.scheduler.record(*t.second, joined);
    t.put(t.first, 'b');
    EXPECT_TRUE(t.scheduler.wait(*t.first, joined));
    t.put(t.first, 'c');
    EXPECT_EQ(t.second->capture, capture);
    t.scheduler.runAll();
    EXPECT_EQ(t.order, ""); // recorded, not done
    for (int round = 0; round < 2; ++round) {
      t.order.clear();
      capture->graph.run([&](size_t n) { return t.scheduler.draw(n); });
      EXPECT_TRUE(t.order == "axbc" || t.order == "abxc") << t.order;
      orders.insert(t.order);
    }
    t.first->capture = t.second->capture = nullptr;
  }
  EXPECT_EQ(orders.size(), 2u);
}
