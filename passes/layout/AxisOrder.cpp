//===- AxisOrder.cpp - the order in which axes lie in memory --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/layout/AxisOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright {

AxisOrder identityOrder(unsigned rank) {
  return llvm::to_vector(llvm::seq<unsigned>(0, rank));
}

bool isIdentity(ArrayRef<unsigned> order) {
  return llvm::all_of(llvm::enumerate(order),
                      [](auto axis) { return axis.index() == axis.value(); });
}

AxisOrder moveToEnd(unsigned rank, ArrayRef<unsigned> last) {
  AxisOrder order;
  for (unsigned axis = 0; axis < rank; ++axis) {
    if (!llvm::is_contained(last, axis)) {
      order.push_back(axis);
    }
  }
  llvm::append_range(order, last);
  return order;
}

namespace {

/// The axes of a group on the side that an order is known for, and on the
/// other.
struct Sides {
  ArrayRef<unsigned> known, other;
};

} // namespace

/// Carries `order` over to the other side of a reshape. An axis of size one
/// that only one side has moves nothing; it follows the axis before it.
static std::optional<AxisOrder> carryOver(ArrayRef<Sides> groups,
                                          ArrayRef<unsigned> order) {
  SmallVector<unsigned> groupOf(order.size(), groups.size());
  for (auto [number, group] : llvm::enumerate(groups)) {
    for (unsigned axis : group.known) {
      groupOf[axis] = number;
    }
  }
  SmallVector<unsigned> sequence; // the groups that hold elements, as they lie
  for (size_t i = 0; i < order.size();) {
    unsigned number = groupOf[order[i]];
    if (number == groups.size() || groups[number].other.empty()) {
      ++i;
      continue;
    }
    for (unsigned axis : groups[number].known) {
      if (i == order.size() || order[i++] != axis) {
        return std::nullopt;
      }
    }
    sequence.push_back(number);
  }
  AxisOrder carried;
  auto appendUnits = [&](size_t number) {
    for (; number < groups.size(); ++number) {
      if (groups[number].known.empty()) {
        llvm::append_range(carried, groups[number].other);
      } else if (!groups[number].other.empty()) {
        break;
      }
    }
  };
  appendUnits(0);
  for (unsigned number : sequence) {
    llvm::append_range(carried, groups[number].other);
    appendUnits(number + 1);
  }
  return carried;
}

std::optional<AxisOrder> orderBehindReshape(ArrayRef<ReshapeGroup> groups,
                                            ArrayRef<unsigned> order) {
  return carryOver(llvm::map_to_vector(groups,
                                       [](const ReshapeGroup &group) {
                                         return Sides{group.from, group.to};
                                       }),
                   order);
}

std::optional<AxisOrder> orderBeforeReshape(ArrayRef<ReshapeGroup> groups,
                                            ArrayRef<unsigned> order) {
  return carryOver(llvm::map_to_vector(groups,
                                       [](const ReshapeGroup &group) {
                                         return Sides{group.to, group.from};
                                       }),
                   order);
}

std::string describe(ArrayRef<unsigned> order) {
  if (order.size() >= 3 && order == ArrayRef(moveToEnd(order.size(), {1}))) {
    return "stored channels-last";
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "stored in axis order ";
  llvm::interleaveComma(order, stream);
  return text;
}

} // namespace tilewright
