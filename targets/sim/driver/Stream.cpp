//===- Stream.cpp - work in the order of streams and events ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Stream.h"

#include <algorithm>
#include <chrono>

using namespace tilewright::sim;

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Graph::run(const std::function<size_t(size_t)> &draw) const {
  std::vector<size_t> missing(nodes.size());
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i].after.size();
    for (size_t before : nodes[i].after) {
      users[before].push_back(i);
    }
    if (missing[i] == 0) {
      ready.push_back(i);
    }
  }
  while (!ready.empty()) {
    size_t chosen = draw(ready.size());
    size_t node = ready[chosen];
    ready.erase(ready.begin() + static_cast<ptrdiff_t>(chosen));
    nodes[node].work();
    for (size_t user : users[node]) {
      if (--missing[user] == 0) {
        ready.push_back(user);
      }
    }
  }
}

std::vector<bool> Graph::before(const std::vector<size_t> &ends) const {
  std::vector<bool> reached(nodes.size());
  for (size_t end : ends) {
    reached[end] = true;
  }
  // A node comes after nodes with smaller numbers only.
  for (size_t i = nodes.size(); i-- > 0;) {
    for (size_t before : nodes[i].after) {
      reached[before] = reached[before] || reached[i];
    }
  }
  return reached;
}

void Scheduler::reset(uint64_t seed) {
  streams.clear();
  state = seed;
  isOrdered = seed == 0;
  submitted = 0;
}

Stream *Scheduler::addStream(bool isBlocking) {
  streams.push_back(std::make_unique<Stream>());
  streams.back()->isBlocking = isBlocking;
  return streams.back().get();
}

Stream *Scheduler::find(void *handle) const {
  auto found =
      std::find_if(streams.begin(), streams.end(), [&](const auto &stream) {
        return static_cast<void *>(stream.get()) == handle;
      });
  return found == streams.end() ? nullptr : found->get();
}

void Scheduler::remove(Stream *stream) {
  run(*stream);
  if (stream->capture) {
    stream->capture->isInvalid = true;
    auto &list = stream->capture->streams;
    list.erase(std::remove(list.begin(), list.end(), stream), list.end());
  }
  streams.erase(
      std::find_if(streams.begin(), streams.end(),
                   [&](const auto &entry) { return entry.get() == stream; }));
}

void Scheduler::submit(Stream &stream, Work work) {
  if (stream.capture) {
    Graph &graph = stream.capture->graph;
    graph.nodes.push_back({std::move(work), stream.captureEnds});
    stream.captureEnds = {graph.nodes.size() - 1};
    return;
  }
  stream.queue.push_back({submitted++, nullptr, std::move(work)});
}

void Scheduler::record(Stream &stream, Event &event) {
  event.capture = stream.capture;
  event.captureEnds = stream.captureEnds;
  if (stream.capture) {
    return;
  }
  auto completion = std::make_shared<Completion>();
  event.recorded = completion;
  submit(stream, [completion] {
    completion->done = true;
    completion->seconds = now();
  });
}

bool Scheduler::wait(Stream &stream, const Event &event) {
  if (!event.capture) {
    if (stream.capture) {
      return false;
    }
    if (event.recorded && !event.recorded->done) {
      stream.queue.push_back({submitted++, event.recorded, Work()});
    }
    return true;
  }
  if (!stream.capture) {
    // What is on the stream already stays outside.
    stream.capture = event.capture;
    stream.captureEnds.clear();
    event.capture->streams.push_back(&stream);
  } else if (stream.capture != event.capture) {
    return false;
  }
  for (size_t end : event.captureEnds) {
    if (std::find(stream.captureEnds.begin(), stream.captureEnds.end(), end) ==
        stream.captureEnds.end()) {
      stream.captureEnds.push_back(end);
    }
  }
  return true;
}

size_t Scheduler::draw(size_t n) {
  if (isOrdered) {
    return 0;
  }
  // SplitMix64.
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<size_t>((z ^ (z >> 31)) % n);
}

/// \returns a stream that can go on, or null.
Stream *Scheduler::next() {
  std::vector<Stream *> ready;
  for (const auto &stream : streams) {
    if (stream->isReady()) {
      ready.push_back(stream.get());
    }
  }
  if (ready.empty()) {
    return nullptr;
  }
  if (isOrdered) {
    return *std::min_element(
        ready.begin(), ready.end(), [](const Stream *a, const Stream *b) {
          return a->queue.front().number < b->queue.front().number;
        });
  }
  return ready[draw(ready.size())];
}

void Scheduler::step() {
  if (Stream *stream = next()) {
    Stream::Operation operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (operation.work) {
      operation.work();
    }
  }
}

void Scheduler::runUntil(const std::function<bool()> &isEnough) {
  // Events are recorded before they are waited for: something can always go
  // on.
  while (!isEnough() && !isEmpty()) {
    step();
  }
}

void Scheduler::runAll() {
  runUntil([] { return false; });
}

void Scheduler::run(const Stream &stream) {
  runUntil([&] { return stream.queue.empty(); });
}

void Scheduler::runBlocking() {
  runUntil([&] {
    return std::all_of(streams.begin(), streams.end(), [](const auto &stream) {
      return !stream->isBlocking || stream->queue.empty();
    });
  });
}

bool Scheduler::isEmpty() const {
  return std::all_of(streams.begin(), streams.end(),
                     [](const auto &stream) { return stream->queue.empty(); });
}
