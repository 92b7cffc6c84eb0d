//===- Traffic.cpp - bytes that kernels move ------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Traffic.h"
#include "ir/Locations.h"
#include "ir/TensorTypes.h"
#include "ir/TwOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/fuse/Access.h"
#include "runtime/exec/Expressions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright {

using Group = llvm::SmallSetVector<Operation *, 4>;

/// A product that stays at the end of the range.
static int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

/// The number of points of a domain; a symbol counts as one.
static int64_t pointsOf(ArrayRef<DimExpr> domain) {
  int64_t points = 1;
  for (DimExpr dim : domain) {
    std::optional<int64_t> size;
    if (dim) {
      size = dim.evaluate([](StringRef) { return std::optional<int64_t>(1); });
    }
    points = multiply(points, std::max<int64_t>(size.value_or(1), 0));
  }
  return points;
}

static int64_t elementBytes(Type tensor) {
  std::optional<DType> dtype = dtypeOf(elementTypeOf(tensor));
  return dtype ? static_cast<int64_t>(sizeOf(*dtype)) : 0;
}

static int64_t bytesOf(Type tensor) {
  return multiply(pointsOf(dimsOf(tensor)), elementBytes(tensor));
}

/// The tensor whose memory a value is: reshapes move nothing.
static Value memoryOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    value = reshape.getSource();
  }
  return value;
}

/// The bytes that are needed of each tensor, by the value that owns its memory.
class Reads {
public:
  /// `loads` elements of a tensor are read, or all of it when there are fewer.
  void add(Value tensor, int64_t loads) {
    Value memory = memoryOf(tensor);
    int64_t all = bytesOf(memory.getType());
    int64_t &bytes = needed[memory];
    int64_t more =
        std::min(all, multiply(loads, elementBytes(tensor.getType())));
    bytes = std::min(all, bytes + more);
  }
  void addAll(Value tensor) { add(tensor, pointsOf(dimsOf(tensor.getType()))); }

  void addPrimitive(Operation *primitive) {
    int64_t points = pointsOf(domainOf(primitive));
    for (LoadOp load : primitive->getRegion(0).getOps<LoadOp>()) {
      add(load.getSource(), points);
    }
    for (Value operand : primitive->getOperands()) {
      addAll(operand);
    }
  }

  /// What a region reads through its block arguments.
  void addRegion(FusedOp region) {
    Reads inside;
    for (Operation &op : region.getBody().front().without_terminator()) {
      inside.addOperation(&op);
    }
    for (auto [argument, input] :
         llvm::zip(region.getBody().getArguments(), region.getInputs())) {
      auto found = inside.needed.find(argument);
      if (found != inside.needed.end()) {
        Value memory = memoryOf(input);
        int64_t &bytes = needed[memory];
        bytes = std::min(bytesOf(memory.getType()), bytes + found->second);
      }
    }
  }

  void addOperation(Operation *op) {
    if (isPrimitive(op)) {
      addPrimitive(op);
    } else if (auto region = dyn_cast<FusedOp>(op)) {
      addRegion(region);
    } else if (!isa<ReshapeOp>(op)) {
      for (Value operand : op->getOperands()) {
        addAll(operand);
      }
    }
  }

  /// The sum over tensors that come from outside of `group`.
  int64_t bytesFromOutside(const Group &group) const {
    int64_t sum = 0;
    for (auto [memory, bytes] : needed) {
      if (!memory.getDefiningOp() || !group.contains(memory.getDefiningOp())) {
        sum += bytes;
      }
    }
    return sum;
  }

private:
  llvm::MapVector<Value, int64_t> needed;
};

/// The operation that reads through a user: a load stands for its primitive.
static Operation *readerOf(Operation *user) {
  return isa<LoadOp>(user) ? user->getParentOp() : user;
}

static bool isReadOutside(Value value, const Group &group) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      return isReadOutside(reshape.getResult(), group);
    }
    return !group.contains(readerOf(user));
  });
}

/// Adds one kernel that does all of `group`.
static void addKernel(const Group &group, Traffic &traffic) {
  Reads reads;
  for (Operation *op : group) {
    reads.addOperation(op);
    for (Value result : op->getResults()) {
      if (isReadOutside(result, group)) {
        traffic.bytesWritten += bytesOf(result.getType());
      }
    }
  }
  traffic.bytesRead += reads.bytesFromOutside(group);
  ++traffic.kernels;
}

/// True for what runs as a kernel, as opposed to views, sizes, constants and
/// control flow.
static bool isWork(Operation *op) {
  return isPrimitive(op) || isa<FusedOp, CallOp, DecomposeInterface>(op);
}

/// Values that a compiler would compute once and for all.
static void markConstants(Block &block, llvm::DenseSet<Value> &constants) {
  for (Operation &op : block) {
    bool isConstant = isa<ConstantOp>(op);
    if (isWork(&op) || isa<ReshapeOp>(op)) {
      auto call = dyn_cast<CallOp>(op);
      isConstant = !(call && (call.isRandom() || call.getDefines()));
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands()) {
          bool isOutside =
              isa<RankedTensorType>(operand.getType()) &&
              !op.isProperAncestor(operand.getParentBlock()->getParentOp()) &&
              operand.getParentBlock()->getParentOp() != &op;
          isConstant &= !isOutside || constants.contains(operand);
        }
        isConstant &= !isa<SizeOp>(nested);
      });
    }
    if (isConstant) {
      constants.insert(op.result_begin(), op.result_end());
    }
  }
}

Traffic trafficOfNodes(ModuleOp imported) {
  Traffic traffic;
  llvm::DenseSet<Value> constants;
  for (Block *block : graphBlocks(imported)) {
    markConstants(*block, constants);
    llvm::MapVector<Attribute, Group> nodes;
    for (Operation &op : *block) {
      bool isConstant = llvm::all_of(op.getResults(), [&](Value result) {
        return constants.contains(result);
      });
      if (isWork(&op) && !isConstant) {
        nodes[op.getLoc()].insert(&op);
      }
    }
    for (const auto &[location, group] : nodes) {
      addKernel(group, traffic);
    }
  }
  return traffic;
}

Traffic trafficOfRegions(ModuleOp tiled) {
  Traffic traffic;
  for (Block *block : graphBlocks(tiled)) {
    for (Operation &op : *block) {
      if (isWork(&op)) {
        Group group;
        group.insert(&op);
        addKernel(group, traffic);
      }
    }
  }
  return traffic;
}

std::vector<int64_t> sizesOfOnes(const format::PlanT &plan) {
  // Expressions refer to earlier ones: one pass gives all of them.
  std::vector<int64_t> symbols(plan.symbols.size(), 1), sizes;
  for (const format::Expr &expr : plan.expressions) {
    sizes.push_back(evaluateExpression(expr, sizes, symbols));
  }
  return sizes;
}

int64_t bytesCopied(const format::PlanT &plan) {
  std::vector<int64_t> sizes = sizesOfOnes(plan);
  int64_t total = 0;
  for (const auto &function : plan.functions) {
    for (const auto &command : function->commands) {
      const format::CopyT *copy = command->body.AsCopy();
      if (!copy) {
        continue;
      }
      const format::ValueT &value = *plan.values[copy->from];
      int64_t bytes =
          static_cast<int64_t>(sizeOf(static_cast<DType>(value.dtype)));
      for (uint32_t dim : value.dims) {
        bytes = multiply(bytes, std::max<int64_t>(sizes[dim], 0));
      }
      total += multiply(bytes, 2);
    }
  }
  return total;
}

} // namespace tilewright
