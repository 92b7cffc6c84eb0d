//===- ChooseOrders.cpp - the cheapest orders over the graph --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/layout/ChooseOrders.h"
#include "passes/layout/Candidates.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// Descent over all classes stops after so many rounds.
static constexpr unsigned maxRounds = 6;
/// A change must gain this share of what it touches.
static constexpr double leastGain = 0.002;

/// Orders of some classes, to go back to.
using Snapshot = SmallVector<std::pair<unsigned, AxisOrder>>;

static Snapshot takeSnapshot(const LayoutGraph &graph,
                             const llvm::SetVector<unsigned> &numbers) {
  return llvm::map_to_vector(numbers, [&](unsigned number) {
    return std::pair(number, graph.getClasses()[number].order);
  });
}

static void restore(LayoutGraph &graph, const Snapshot &snapshot) {
  for (const auto &[number, order] : snapshot) {
    graph.getClasses()[number].order = order;
  }
}

/// Gives the classes that read a class the orders that follow it.
static void followedByReaders(LayoutGraph &graph, unsigned number) {
  for (unsigned reader : graph.getClasses()[number].readers) {
    OrderClass &other = graph.getClasses()[reader];
    for (unsigned member : other.nodes) {
      const LayoutNode &node = graph.getNodes()[member];
      for (const TensorRead &read : node.reads) {
        bool isFirst =
            other.mayMove && reader != number && read.sourceClass == number;
        if (auto echo = isFirst ? echoOf(graph, node, read) : std::nullopt) {
          other.order = *echo;
        }
      }
    }
  }
}

/// Gives a class the candidate for which `costOf` is least, with `follow` to
/// change its readers along with it. \returns true if that changes an order.
static bool improve(
    LayoutGraph &graph, unsigned number, llvm::function_ref<double()> costOf,
    llvm::function_ref<void()> follow = [] {}) {
  OrderClass &own = graph.getClasses()[number];
  Snapshot present = takeSnapshot(graph, own.readers), best = present;
  double least = costOf() * (1 - leastGain);
  for (const AxisOrder &candidate : candidatesOf(graph, number)) {
    own.order = candidate;
    follow();
    if (double cost = costOf(); cost < least) {
      least = cost;
      best = takeSnapshot(graph, own.readers);
    }
    restore(graph, present);
  }
  restore(graph, best);
  return best != present;
}

static double totalCost(const LayoutGraph &graph, LayoutCost &cost) {
  double total = 0;
  for (unsigned number = 0; number < graph.getClasses().size(); ++number) {
    total += cost.ofClass(number);
  }
  return total;
}

/// The classes whose cost depends on a class or, `far`, on those that read it.
static llvm::SetVector<unsigned> touchedBy(const LayoutGraph &graph,
                                           unsigned number, bool far) {
  llvm::SetVector<unsigned> touched(graph.getClasses()[number].readers);
  for (unsigned reader : graph.getClasses()[number].readers) {
    if (far) {
      touched.insert_range(graph.getClasses()[reader].readers);
    }
  }
  return touched;
}

/// Changes one class at a time, in program order, alone or with those that read
/// it, while that gains. \returns the cost that is left.
static double descend(LayoutGraph &graph, LayoutCost &cost) {
  bool changed = true;
  for (unsigned round = 0; changed && round < maxRounds; ++round) {
    changed = false;
    for (unsigned number = 0; number < graph.getClasses().size(); ++number) {
      if (!graph.getClasses()[number].mayMove) {
        continue;
      }
      for (bool together : {false, true}) {
        llvm::SetVector<unsigned> touched = touchedBy(graph, number, together);
        changed |= improve(
            graph, number,
            [&] {
              double cycles = 0;
              for (unsigned one : touched) {
                cycles += cost.ofClass(one);
              }
              return cycles;
            },
            [&] {
              if (together) {
                followedByReaders(graph, number);
              }
            });
      }
    }
  }
  return totalCost(graph, cost);
}

static void setRowMajor(LayoutGraph &graph) {
  for (OrderClass &own : graph.getClasses()) {
    own.order = identityOrder(own.rank);
  }
}

/// What a class costs if what it reads follows it.
static double costIfOperandsFollow(LayoutGraph &graph, LayoutCost &cost,
                                   unsigned number) {
  Snapshot present;
  for (unsigned member : graph.getClasses()[number].nodes) {
    const LayoutNode &node = graph.getNodes()[member];
    for (const TensorRead &read : node.reads) {
      unsigned source = read.sourceClass.value_or(number);
      std::optional<AxisOrder> wish = wishThroughReshapes(graph, node, read);
      if (source != number && graph.getClasses()[source].mayMove && wish) {
        present.push_back({source, graph.getClasses()[source].order});
        graph.getClasses()[source].order = *wish;
      }
    }
  }
  double cycles = cost.ofClass(number);
  // The first that was kept is the one from before.
  std::reverse(present.begin(), present.end());
  restore(graph, present);
  return cycles;
}

/// Gives every class, in program order, what it would take for itself: with
/// operands as they are by then, or with operands that follow.
static void startFromOwn(LayoutGraph &graph, LayoutCost &cost,
                         bool operandsFollow) {
  setRowMajor(graph);
  for (unsigned number = 0; number < graph.getClasses().size(); ++number) {
    if (graph.getClasses()[number].mayMove) {
      improve(graph, number, [&] {
        return operandsFollow ? costIfOperandsFollow(graph, cost, number)
                              : cost.ofClass(number);
      });
    }
  }
}

void chooseOrders(LayoutGraph &graph, LayoutCost &cost) {
  llvm::SetVector<unsigned> all;
  all.insert_range(llvm::seq<unsigned>(0, graph.getClasses().size()));
  double least = descend(graph, cost);
  Snapshot best = takeSnapshot(graph, all);
  for (bool operandsFollow : {false, true}) {
    startFromOwn(graph, cost, operandsFollow);
    if (double found = descend(graph, cost); found < least) {
      least = found;
      best = takeSnapshot(graph, all);
    }
  }
  restore(graph, best);
}

} // namespace tilewright
