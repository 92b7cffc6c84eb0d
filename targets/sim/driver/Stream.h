//===- Stream.h - work in the order of streams and events -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Nothing that is put on a stream is done before something waits for it. Then
// the next stream that can go on is drawn, again and again, so that whatever
// streams and events leave open happens in an order that a seed decides. A
// missing event gives a wrong result with some seed instead of luck on a GPU.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace tilewright::sim {

/// One thing to do. May be done several times, as part of a graph.
using Work = std::function<void()>;

/// Whether a recorded event has been reached.
struct Completion {
  bool done = false;
  double seconds = 0; ///< when, on the processor's clock
};

/// Work with the work that must be done before it.
struct Graph {
  struct Node {
    Work work;
    std::vector<size_t> after;
  };
  std::vector<Node> nodes;

  /// Does everything once, in an order that `draw(n)`, a number below n,
  /// decides.
  void run(const std::function<size_t(size_t)> &draw) const;

  /// \returns for each node whether it is one of `ends` or before one.
  std::vector<bool> before(const std::vector<size_t> &ends) const;
};

struct Stream;

/// What streams record instead of doing it.
struct Capture {
  Graph graph;
  Stream *origin = nullptr;
  std::vector<Stream *> streams;
  bool isInvalid = false; ///< something was asked for that cannot be recorded
};

struct Stream {
  struct Operation {
    uint64_t number; ///< in the order of submission
    std::shared_ptr<Completion> waitsFor;
    Work work; ///< may be empty
  };

  bool isBlocking = false; ///< against the default stream
  std::deque<Operation> queue;
  std::shared_ptr<Capture> capture; ///< null outside of one
  std::vector<size_t> captureEnds;  ///< nodes that the next one comes after

  bool isReady() const {
    return !queue.empty() &&
           (!queue.front().waitsFor || queue.front().waitsFor->done);
  }
};

struct Event {
  bool isTimed = false;
  std::shared_ptr<Completion> recorded; ///< null: never
  std::shared_ptr<Capture> capture;     ///< where it was recorded, if there
  std::vector<size_t> captureEnds;
};

/// The streams of one context.
class Scheduler {
public:
  /// Starts anew, without streams.
  void reset(uint64_t seed);

  Stream *addStream(bool isBlocking);
  /// \returns the stream with this address, or null.
  Stream *find(void *handle) const;
  void remove(Stream *stream);

  /// Puts work on a stream, or records it.
  void submit(Stream &stream, Work work);
  void record(Stream &stream, Event &event);
  /// \returns false when a stream that records waits for an event of outside,
  /// or the other way round.
  bool wait(Stream &stream, const Event &event);

  /// Works until the predicate holds or nothing is left to do.
  void runUntil(const std::function<bool()> &isEnough);
  void runAll();
  void run(const Stream &stream);
  /// All streams that wait for the default stream.
  void runBlocking();
  /// One thing, if there is one.
  void step();

  bool isEmpty() const;

  /// A number below `n`, which is not 0.
  size_t draw(size_t n);

private:
  Stream *next();

  uint64_t state = 0;
  bool isOrdered = false;
  uint64_t submitted = 0;
  std::vector<std::unique_ptr<Stream>> streams;
};

} // namespace tilewright::sim
