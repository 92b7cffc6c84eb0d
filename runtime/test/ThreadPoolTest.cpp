//===- ThreadPoolTest.cpp ---------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace tilewright;

TEST(ThreadPool, DoesEveryTaskOnce) {
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t tasks : {0, 1, 2, 7, 100, 1000}) {
      for (int64_t grain : {1, 3, 50}) {
        std::vector<std::atomic<int>> done(static_cast<size_t>(tasks));
        pool.forEach(tasks, grain, [&](int64_t begin, int64_t end, int worker) {
          EXPECT_GE(worker, 0);
          EXPECT_LT(worker, int(threads));
          for (int64_t i = begin; i < end; ++i) {
            done[static_cast<size_t>(i)].fetch_add(1);
          }
        });
        for (auto &count : done) {
          EXPECT_EQ(count.load(), 1);
        }
      }
    }
  }
}

TEST(ThreadPool, ManySmallJobs) {
  ThreadPool pool(4);
  int64_t sum = 0;
  std::vector<int64_t> partial(4 * 16);
  for (int job = 0; job < 5000; ++job) {
    pool.forEach(16, 1, [&](int64_t begin, int64_t end, int worker) {
      partial[static_cast<size_t>(worker) * 16] += end - begin;
    });
  }
  for (int64_t part : partial) {
    sum += part;
  }
  EXPECT_EQ(sum, 5000 * 16);
}

TEST(ThreadPool, WakesSleepers) {
  ThreadPool pool(3);
  for (int job = 0; job < 20; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::atomic<int64_t> sum{0};
    pool.forEach(100, 1, [&](int64_t begin, int64_t end, int) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      sum += end - begin;
    });
    EXPECT_EQ(sum.load(), 100);
  }
}

TEST(ThreadPool, UsableProcessors) { EXPECT_GE(usableProcessors(), 1u); }
