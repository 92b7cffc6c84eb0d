//===- Streams.cpp - commands on streams ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Commands are taken in the plan's order, each to the stream on which it can
// begin first. For each command a clock says how many commands of each stream
// have ended before it begins (a vector clock): a dependence that the clock
// knows already needs no event.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Streams.h"
#include "passes/plan/Dependences.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace tilewright::plan {

namespace {

class Scheduler {
public:
  Scheduler(const format::PlanT &plan, format::FunctionT &function,
            const std::vector<double> &microseconds,
            const StreamOptions &options)
      : plan(plan), function(function), microseconds(microseconds),
        options(options), dependences(dependencesOf(plan, function)),
        spans(function.commands.size()), places(function.commands.size()) {}

  std::vector<CommandSpan> run();

private:
  using Clock = llvm::SmallVector<uint32_t, 4>;

  struct Stream {
    double free = 0; // when its last command ends
    uint32_t count = 0;
    Clock clock; // of its last command, with that one
  };

  /// Where a command is, and what has ended before it.
  struct Place {
    uint32_t stream = 0, number = 0; // the number counts from one
    Clock before;
  };

  static uint32_t at(const Clock &clock, uint32_t stream) {
    return stream < clock.size() ? clock[stream] : 0;
  }
  static void merge(Clock &clock, const Clock &other) {
    clock.resize(std::max(clock.size(), other.size()));
    for (auto [own, theirs] : llvm::zip(clock, other)) {
      own = std::max(own, theirs);
    }
  }
  bool isBefore(uint32_t earlier, const Clock &clock) const {
    return at(clock, places[earlier].stream) >= places[earlier].number;
  }

  uint32_t choose(uint32_t command) const;
  double startOn(uint32_t stream, uint32_t command) const;
  void put(uint32_t command, uint32_t stream);
  void waitFor(uint32_t command, Clock &clock);

  llvm::DenseMap<uint32_t, llvm::SmallVector<uint32_t>> usesOfRoots() const;
  uint32_t firstAfter(uint32_t from, llvm::ArrayRef<uint32_t> uses) const;
  uint32_t lastBefore(uint32_t from, llvm::ArrayRef<uint32_t> uses) const;
  void extendBuffers();
  void moveReleases();

  const format::PlanT &plan;
  format::FunctionT &function;
  const std::vector<double> &microseconds;
  const StreamOptions &options;
  std::vector<llvm::SmallVector<uint32_t>> dependences;
  std::vector<CommandSpan> spans;
  std::vector<Place> places;
  llvm::SmallVector<Stream> streams;
};

} // namespace

/// When `command` could begin on a stream.
double Scheduler::startOn(uint32_t stream, uint32_t command) const {
  bool isNew = stream == streams.size();
  double start = isNew ? 0 : streams[stream].free;
  for (uint32_t before : dependences[command]) {
    bool isElsewhere = places[before].stream != stream;
    start = std::max(start, spans[before].end +
                                (isElsewhere ? options.eventMicroseconds : 0));
  }
  return isNew ? start + options.eventMicroseconds : start;
}

/// The stream on which a command begins first; of equal ones that of its latest
/// operand, then the first. What the processor has a part in stays on stream 0.
uint32_t Scheduler::choose(uint32_t command) const {
  auto type = function.commands[command]->body.type;
  bool isOnDevice =
      type == format::CommandBody_Launch || type == format::CommandBody_Copy;
  if (!isOnDevice || streams.empty()) {
    return 0;
  }
  uint32_t latest = 0;
  double latestEnd = -1;
  for (uint32_t before : dependences[command]) {
    if (spans[before].end > latestEnd) {
      latestEnd = spans[before].end;
      latest = places[before].stream;
    }
  }
  uint32_t best = latest;
  double bestStart = startOn(latest, command);
  uint32_t count = static_cast<uint32_t>(streams.size());
  for (uint32_t stream = 0; stream <= count && stream < options.streams;
       ++stream) {
    double start = startOn(stream, command);
    if (start < bestStart) {
      best = stream;
      bestStart = start;
    }
  }
  return best;
}

/// Adds the events that the clock does not know of.
void Scheduler::waitFor(uint32_t command, Clock &clock) {
  format::CommandT &own = *function.commands[command];
  for (uint32_t before : llvm::reverse(dependences[command])) {
    if (isBefore(before, clock)) {
      continue;
    }
    format::CommandT &other = *function.commands[before];
    if (other.records < 0) {
      other.records = static_cast<int32_t>(function.events++);
    }
    own.waits.push_back(static_cast<uint32_t>(other.records));
    Clock known = places[before].before;
    known.resize(std::max<size_t>(known.size(), places[before].stream + 1));
    known[places[before].stream] = places[before].number;
    merge(clock, known);
  }
}

void Scheduler::put(uint32_t command, uint32_t stream) {
  spans[command].begin = startOn(stream, command);
  spans[command].end = spans[command].begin + microseconds[command];
  if (stream == streams.size()) {
    streams.emplace_back();
  }
  Stream &own = streams[stream];
  Place &place = places[command];
  place.stream = stream;
  place.number = ++own.count;
  place.before = own.clock;
  waitFor(command, place.before);
  own.clock = place.before;
  own.clock.resize(std::max<size_t>(own.clock.size(), stream + 1));
  own.clock[stream] = place.number;
  own.free = spans[command].end;
  function.commands[command]->stream = stream;
}

/// The commands that use the memory of each root.
llvm::DenseMap<uint32_t, llvm::SmallVector<uint32_t>>
Scheduler::usesOfRoots() const {
  llvm::DenseMap<uint32_t, llvm::SmallVector<uint32_t>> uses;
  for (uint32_t i = 0; i < function.commands.size(); ++i) {
    CommandAccess access = accessOf(*function.commands[i]);
    for (uint32_t value : llvm::concat<uint32_t>(access.reads, access.writes)) {
      uses[rootOf(plan, value)].push_back(i);
    }
  }
  return uses;
}

/// The first command, from `from` on, such that every later one comes after all
/// of `uses`; the last of all if there is none.
uint32_t Scheduler::firstAfter(uint32_t from,
                               llvm::ArrayRef<uint32_t> uses) const {
  uint32_t result = static_cast<uint32_t>(places.size()) - 1;
  while (result > from && llvm::all_of(uses, [&](uint32_t use) {
           return isBefore(use, places[result].before);
         })) {
    --result;
  }
  return result;
}

/// The last command, up to `from`, that comes before all of `uses` or is one.
uint32_t Scheduler::lastBefore(uint32_t from,
                               llvm::ArrayRef<uint32_t> uses) const {
  uint32_t result = from;
  while (result > 0 && !llvm::all_of(uses, [&](uint32_t use) {
           return use == result || isBefore(result, places[use].before);
         })) {
    --result;
  }
  return result;
}

void Scheduler::extendBuffers() {
  llvm::DenseMap<uint32_t, llvm::SmallVector<uint32_t>> byBuffer;
  for (auto &[root, uses] : usesOfRoots()) {
    const format::ValueT &value = *plan.values[root];
    // A captured buffer of a caller lives as long as the call.
    bool isOwn = llvm::any_of(uses, [&](uint32_t use) {
      CommandAccess access = accessOf(*function.commands[use]);
      return llvm::any_of(access.writes, [&](uint32_t written) {
        return rootOf(plan, written) == root;
      });
    });
    if (value.storage == format::Storage_Arena && isOwn) {
      llvm::append_range(byBuffer[value.index], uses);
    }
  }
  for (auto &[index, uses] : byBuffer) {
    format::Buffer &buffer = function.buffers[index];
    // A call that uses it is ordered against everything.
    uint32_t last = firstAfter(buffer.last(), uses);
    uint32_t first = lastBefore(buffer.first(), uses);
    buffer = format::Buffer(buffer.bytes(), first, last);
  }
}

/// A release moves to a command that comes after every use; without one, the
/// executor releases the value when the function returns.
void Scheduler::moveReleases() {
  llvm::DenseMap<uint32_t, llvm::SmallVector<uint32_t>> uses = usesOfRoots();
  std::vector<std::vector<uint32_t>> releases(places.size());
  for (uint32_t i = 0; i < places.size(); ++i) {
    for (uint32_t value : function.commands[i]->release) {
      auto comesAfter = [&](uint32_t command) {
        return llvm::all_of(uses[rootOf(plan, value)], [&](uint32_t use) {
          return use == command || isBefore(use, places[command].before);
        });
      };
      uint32_t at = i;
      while (at < places.size() && !comesAfter(at)) {
        ++at;
      }
      if (at < places.size()) {
        releases[at].push_back(value);
      }
    }
  }
  for (auto [command, list] : llvm::zip(function.commands, releases)) {
    command->release = std::move(list);
  }
}

std::vector<CommandSpan> Scheduler::run() {
  for (uint32_t i = 0; i < function.commands.size(); ++i) {
    put(i, choose(i));
  }
  function.streams = std::max<uint32_t>(1, streams.size());
  if (function.streams > 1) {
    extendBuffers();
    moveReleases();
  }
  return std::move(spans);
}

std::vector<CommandSpan> assignStreams(const format::PlanT &plan,
                                       format::FunctionT &function,
                                       const std::vector<double> &microseconds,
                                       const StreamOptions &options) {
  return Scheduler(plan, function, microseconds, options).run();
}

} // namespace tilewright::plan
