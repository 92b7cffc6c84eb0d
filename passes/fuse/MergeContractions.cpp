//===- MergeContractions.cpp - contractions of one operand become one -----===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The projections of attention, and convolutions side by side, read one
// activation through the same coordinates and differ in their constants. Over
// concatenated constants they are one contraction, which reads the activation
// once; who read a part of the result reads at an offset. Maps behind them that
// differ in constants only (a bias) are merged, too.
//
// It does not pay where a result's only use is an epilogue that the others
// lack: a map that reads two parts of the merged result is a kernel of its own.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/ParallelBodies.h"
#include "passes/fuse/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_MERGECONTRACTIONS
#include "passes/fuse/Passes.h.inc"

using namespace tw;

namespace {

/// A contraction and the maps that only it feeds, each fed by the one before.
struct Branch {
  unsigned axis = 0;
  SmallVector<Operation *> chain;

  Operation *head() const { return chain.front(); }
  Value result() const { return chain.back()->getResult(0); }
};

} // namespace

/// True if `map` reads `value` in such a way that it can be the epilogue of
/// what computes it, maybe after a permutation of axes.
static bool isEpilogueOf(MapOp map, Value value) {
  return llvm::any_of(map.getBody().getOps<LoadOp>(), [&](LoadOp load) {
    return load.getSource() == value &&
           ((readsAtOwnCoordinates(load) &&
             map.getDomain() == dimsOf(value.getType())) ||
            permutationOf(load));
  });
}

/// True if the map reads constants only, beside `value`, where its results
/// differ along `axis`.
static bool readsConstantsAlong(MapOp map, unsigned axis, Value value) {
  BlockArgument coordinate = map.getBody().getArgument(axis);
  return llvm::all_of(coordinate.getUsers(), [&](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    return load && (load.getSource() == value ||
                    load.getSource().getDefiningOp<ConstantOp>());
  });
}

/// The map that alone reads `value`, at its own coordinates only, if others
/// like it can be merged with it.
static MapOp onlyEpilogue(Value value, unsigned axis) {
  MapOp epilogue;
  for (Operation *user : value.getUsers()) {
    auto load = dyn_cast<LoadOp>(user);
    auto map = load ? dyn_cast<MapOp>(primitiveOf(load)) : MapOp();
    if (!map || (epilogue && epilogue != map) || map->getNumResults() != 1 ||
        map->getBlock() != value.getDefiningOp()->getBlock() ||
        map.getDomain() != dimsOf(value.getType()) ||
        !readsAtOwnCoordinates(load)) {
      return {};
    }
    epilogue = map;
  }
  return epilogue && readsConstantsAlong(epilogue, axis, value) ? epilogue
                                                                : MapOp();
}

static std::optional<Branch> branchFrom(ReduceOp contraction) {
  std::optional<unsigned> axis = constantAxis(contraction);
  if (!axis) {
    return std::nullopt;
  }
  Branch branch{*axis, {contraction}};
  while (MapOp epilogue = onlyEpilogue(branch.result(), branch.axis)) {
    branch.chain.push_back(epilogue);
  }
  return branch;
}

/// The tensor that is not a constant and that the contraction reads.
static Value activationOf(Operation *contraction) {
  for (LoadOp load : contraction->getRegion(0).getOps<LoadOp>()) {
    if (!load.getSource().getDefiningOp<ConstantOp>()) {
      return load.getSource();
    }
  }
  return {};
}

/// True if the first `length` members of two chains are parallel.
static bool areParallel(const Branch &a, const Branch &b, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    Value earlierA = i ? a.chain[i - 1]->getResult(0) : Value();
    Value earlierB = i ? b.chain[i - 1]->getResult(0) : Value();
    if (a.chain[i] == b.chain[i] ||
        !areParallel(a.chain[i], b.chain[i], a.axis, earlierA, earlierB)) {
      return false;
    }
  }
  return true;
}

/// Why a branch's readers cannot read a part of a larger tensor, or should not.
static const Reason *reasonAgainst(const Branch &branch) {
  for (Operation *user : branch.result().getUsers()) {
    auto load = dyn_cast<LoadOp>(user);
    if (!load) {
      return &reasons::readWhole;
    }
    auto map = dyn_cast<MapOp>(primitiveOf(load));
    if (map && isEpilogueOf(map, branch.result())) {
      return &reasons::epilogueLost;
    }
  }
  return nullptr;
}

/// Lets the readers of a branch read the merged tensor from `offset` on.
static void readAtOffset(const Branch &branch, Value merged, int64_t offset) {
  for (Operation *user :
       llvm::make_early_inc_range(branch.result().getUsers())) {
    auto load = cast<LoadOp>(user);
    BodyBuilder b(load.getLoc(), OpBuilder(load));
    load.getSourceMutable().assign(merged);
    Value index = load.getIndices()[branch.axis];
    load.getIndicesMutable()[branch.axis].assign(b.add(index, offset));
  }
}

static void merge(ArrayRef<Branch> branches) {
  Value merged;
  for (size_t i = 0; i < branches.front().chain.size(); ++i) {
    SmallVector<Operation *> members;
    for (const Branch &branch : branches) {
      members.push_back(branch.chain[i]);
    }
    Operation *earliest =
        *std::min_element(members.begin(), members.end(), [](auto *a, auto *b) {
          return a->isBeforeInBlock(b);
        });
    OpBuilder builder(earliest);
    merged = buildMerged(builder, members, branches.front().axis, merged)
                 ->getResult(0);
  }
  int64_t offset = 0;
  for (const Branch &branch : branches) {
    readAtOffset(branch, merged, offset);
    offset += *dimsOf(branch.result().getType())[branch.axis].getConstant();
    for (Operation *op : llvm::reverse(branch.chain)) {
      op->erase();
    }
  }
}

namespace {

class MergeContractions
    : public impl::MergeContractionsBase<MergeContractions> {
public:
  explicit MergeContractions(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    for (Block *block : graphBlocks(getOperation())) {
      runOnBlock(*block, decisions);
    }
  }

private:
  static void runOnBlock(Block &block, Decisions &decisions) {
    llvm::MapVector<Value, SmallVector<Branch>> byActivation;
    for (ReduceOp reduce : block.getOps<ReduceOp>()) {
      std::optional<Branch> branch =
          isContraction(reduce) ? branchFrom(reduce) : std::nullopt;
      Value activation = branch ? activationOf(reduce) : Value();
      if (activation) {
        byActivation[activation].push_back(std::move(*branch));
      }
    }
    for (auto &[activation, branches] : byActivation) {
      while (branches.size() > 1) {
        takeGroup(activation, branches, decisions);
      }
    }
  }

  /// Merges the first branch with those that are like it; takes them out.
  static void takeGroup(Value activation, SmallVector<Branch> &branches,
                        Decisions &decisions) {
    SmallVector<Branch> group{branches.front()}, rest;
    for (const Branch &branch : ArrayRef(branches).drop_front()) {
      bool isAlike = branch.axis == group.front().axis &&
                     areParallel(group.front(), branch, 1);
      (isAlike ? group : rest).push_back(branch);
    }
    branches = std::move(rest);
    if (group.size() == 1) {
      return;
    }
    SmallVector<Branch> chosen = withEqualEpilogues(group, decisions);
    if (chosen.size() < 2) {
      return;
    }
    SmallVector<Location> locs;
    for (const Branch &branch : chosen) {
      locs.push_back(branch.head()->getLoc());
    }
    std::map<std::string, double> numbers{
        {"contractions", static_cast<double>(chosen.size())}};
    if (std::optional<int64_t> bytes = staticBytes(activation.getType())) {
      numbers["bytes_saved"] =
          static_cast<double>(*bytes) * static_cast<double>(chosen.size() - 1);
    }
    merge(chosen);
    decisions.did(reasons::contractionsMerged,
                  mergeLocations(activation.getContext(), locs), "contraction",
                  numbers);
  }

  /// Those of parallel contractions that can become one with all that follows
  /// them, the rest refused.
  static SmallVector<Branch> withEqualEpilogues(ArrayRef<Branch> group,
                                                Decisions &decisions) {
    SmallVector<Branch> chosen;
    for (const Branch &branch : group) {
      const Reason *reason = reasonAgainst(branch);
      bool isAlike = chosen.empty() ||
                     (chosen.front().chain.size() == branch.chain.size() &&
                      areParallel(chosen.front(), branch, branch.chain.size()));
      if (!reason && !isAlike) {
        reason = &reasons::epilogueLost;
      }
      if (reason) {
        decisions.refused(*reason, branch.head()->getLoc(),
                          "merging contractions");
      } else {
        chosen.push_back(branch);
      }
    }
    return chosen;
  }

  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createMergeContractionsPass(DecisionLog *log) {
  return std::make_unique<MergeContractions>(log);
}

} // namespace tilewright
