//===- ThreadPool.h - threads that share the tasks of a launch --*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A job is a range of tasks. The caller works on it too, and does not wait for
// threads that wake up when nothing is left to do.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tilewright {

/// \returns the threads that this process may use: its processor affinity,
/// limited by its control group.
unsigned usableProcessors();

class ThreadPool {
public:
  /// Does tasks [begin, end) as worker `worker`; must not throw.
  using Task = void (*)(void *state, int64_t begin, int64_t end, int worker);

  /// `threads` counts the caller; 0: usableProcessors(). Takes fewer threads
  /// when the system gives no more.
  explicit ThreadPool(unsigned threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// How many workers there are; `worker` is below this.
  unsigned size() const { return static_cast<unsigned>(threads.size()) + 1; }

  /// Runs tasks 0 … tasks-1, at least `grain` of them per piece, and returns
  /// when all are done. One call at a time.
  void run(int64_t tasks, int64_t grain, Task task, void *state);

  /// The same with a callable `body(begin, end, worker)`.
  template <typename Body>
  void forEach(int64_t tasks, int64_t grain, Body &&body) {
    using Type = std::remove_reference_t<Body>;
    run(
        tasks, grain,
        [](void *state, int64_t begin, int64_t end, int worker) {
          (*static_cast<Type *>(state))(begin, end, worker);
        },
        const_cast<void *>(static_cast<const void *>(&body)));
  }

private:
  void work(int worker);
  void doChunks(int worker);
  bool join(uint32_t &lastJob);
  void leave();

  // The job. Only written while no worker is inside.
  Task task = nullptr;
  void *state = nullptr;
  int64_t tasks = 0;
  int64_t chunk = 1;
  alignas(64) std::atomic<int64_t> next{0};

  // Low half: workers inside the job, and the bit `open`. High half: the
  // number of the job.
  alignas(64) std::atomic<uint64_t> gate{0};
  std::atomic<uint32_t> finished{0};            // futex word of the caller
  alignas(64) std::atomic<uint32_t> wakeups{0}; // futex word of the workers
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};
  std::vector<std::thread> threads;
};

} // namespace tilewright
