//===- ThreadPool.cpp - threads that share the tasks of a launch ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"

#include "runtime/ControlGroup.h"

#include <algorithm>
#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

using namespace tilewright;

static constexpr uint64_t openBit = uint64_t(1) << 31;
static constexpr uint64_t insideMask = openBit - 1;

// About 20 microseconds: longer than the gap between two launches of a small
// model, shorter than what another process would miss.
static constexpr int spins = 600;

// Pieces per worker: enough to even out workers of different speed.
static constexpr int64_t piecesPerWorker = 4;

unsigned tilewright::usableProcessors() {
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    count = static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  }
  return std::min(count, controlGroupProcessors());
}

static void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE,
          expected, nullptr, nullptr, 0);
}

static void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE,
          count, nullptr, nullptr, 0);
}

ThreadPool::ThreadPool(unsigned count) {
  if (count == 0) {
    count = usableProcessors();
  }
  threads.reserve(count - 1);
  for (unsigned worker = 1; worker < count; ++worker) {
    try {
      threads.emplace_back([this, worker] { work(static_cast<int>(worker)); });
    } catch (const std::system_error &) {
      break; // The system gives no more threads; those that we have will do.
    }
  }
}

ThreadPool::~ThreadPool() {
  stopping.store(true);
  wakeups.fetch_add(1);
  futexWake(wakeups, INT_MAX);
  for (std::thread &thread : threads) {
    thread.join();
  }
}

void ThreadPool::doChunks(int worker) {
  while (true) {
    int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
    if (begin >= tasks) {
      return;
    }
    task(state, begin, std::min(tasks, begin + chunk), worker);
  }
}

/// Enters the current job unless it is closed or `lastJob`.
bool ThreadPool::join(uint32_t &lastJob) {
  uint64_t seen = gate.load(std::memory_order_acquire);
  while ((seen & openBit) && static_cast<uint32_t>(seen >> 32) != lastJob) {
    if (gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                   std::memory_order_acquire)) {
      lastJob = static_cast<uint32_t>(seen >> 32);
      return true;
    }
  }
  return false;
}

void ThreadPool::leave() {
  uint64_t before = gate.fetch_sub(1, std::memory_order_acq_rel);
  if (!(before & openBit) && (before & insideMask) == 1) {
    finished.fetch_add(1);
    futexWake(finished, 1);
  }
}

void ThreadPool::work(int worker) {
  uint32_t lastJob = 0;
  while (true) {
    uint32_t ticket = wakeups.load();
    if (stopping.load()) {
      return;
    }
    bool entered = join(lastJob);
    for (int i = 0; i < spins && !entered && !stopping.load(); ++i) {
      __builtin_ia32_pause();
      entered = join(lastJob);
    }
    if (entered) {
      doChunks(worker);
      leave();
      continue;
    }
    sleepers.fetch_add(1);
    futexWait(wakeups, ticket); // Returns at once if there was a call since.
    sleepers.fetch_sub(1);
  }
}

void ThreadPool::run(int64_t count, int64_t grain, Task body, void *bodyState) {
  if (count <= 0) {
    return;
  }
  grain = std::max<int64_t>(grain, 1);
  int64_t workers = std::min<int64_t>(size(), count / grain);
  if (workers <= 1) {
    body(bodyState, 0, count, 0);
    return;
  }

  task = body;
  state = bodyState;
  tasks = count;
  chunk = std::max(grain, count / (workers * piecesPerWorker));
  next.store(0, std::memory_order_relaxed);
  uint64_t job = (gate.load(std::memory_order_relaxed) >> 32) + 1;
  // Workers compare with the last job's number, 0 at first: skip it.
  job = static_cast<uint32_t>(job) == 0 ? 1 : static_cast<uint32_t>(job);
  gate.store((job << 32) | openBit);
  wakeups.fetch_add(1);
  if (sleepers.load() > 0) {
    futexWake(wakeups, static_cast<int>(workers - 1));
  }

  doChunks(0);

  uint32_t ticket = finished.load();
  uint64_t left = gate.fetch_and(~openBit) & insideMask;
  for (int i = 0; left && i < spins; ++i) {
    __builtin_ia32_pause();
    left = gate.load(std::memory_order_acquire) & insideMask;
  }
  while (left) {
    futexWait(finished, ticket);
    ticket = finished.load();
    left = gate.load(std::memory_order_acquire) & insideMask;
  }
}
