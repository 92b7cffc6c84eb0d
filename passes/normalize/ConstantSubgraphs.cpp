//===- ConstantSubgraphs.cpp - what depends on constants alone ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/ConstantSubgraphs.h"
#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/TensorOperands.h"
#include "passes/normalize/Symbols.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// A folded constant may be this large whatever it is made of.
static constexpr int64_t alwaysSmallBytes = 1 << 20;

/// Fills of at least this many elements stay computations: their users compute
/// the value instead of reading it.
static constexpr int64_t largeFillElements = 33;

/// Masks of at least this many elements stay computations, too.
static constexpr int64_t largeMaskElements = 1 << 12;

/// The bytes that a static tensor takes in memory, nullopt for others.
static std::optional<int64_t> bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() ||
      !type.getElementType().isIntOrFloat()) {
    return std::nullopt;
  }
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// True if `op` alone can be evaluated, given constant operands.
static bool isEvaluable(Operation *op) {
  if (isa<ConstantOp>(op)) {
    return true;
  }
  if (!isPrimitive(op) && !isa<ReshapeOp, SizesOp, DecomposeInterface>(op)) {
    return false;
  }
  if (op->getParentOfType<FusedOp>() ||
      !llvm::all_of(op->getResults(),
                    [](Value v) { return bytesOf(v).has_value(); })) {
    return false;
  }
  llvm::StringSet<> symbols;
  collectSymbolsUsedBy(op, /*nested=*/true, symbols);
  return symbols.empty();
}

bool dependsOnConstantsOnly(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i].getDefiningOp();
    if (!op || !isEvaluable(op)) {
      return false;
    }
    for (Value operand : valuesReadBy(op)) {
      reached.insert(operand);
    }
  }
  return true;
}

/// True for a map whose elements cost little more than reading them.
static bool isCheapMap(Operation *op) {
  constexpr size_t fewOperations = 16;
  if (!isa<MapOp>(op) || op->getNumResults() != 1) {
    return false;
  }
  Block &body = op->getRegion(0).front();
  return body.getOperations().size() <= fewOperations &&
         llvm::all_of(body.without_terminator(), [](Operation &inner) {
           if (auto load = dyn_cast<LoadOp>(inner)) {
             return !load.getGuard();
           }
           return isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp,
                      arith::MulIOp, arith::IndexCastOp, arith::CmpIOp,
                      arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                      arith::SelectOp, arith::AddFOp, arith::MulFOp,
                      arith::ExtFOp, arith::TruncFOp>(inner);
         });
}

/// True for what comparisons of coordinates and single numbers alone give, such
/// as a causal mask. Who reads it can know from a coordinate what it is.
static bool isMaskOfCoordinates(const ConstantSubgraph &subgraph) {
  auto type = cast<RankedTensorType>(subgraph.result.getType());
  bool compares = false;
  for (Operation *op : subgraph.operations) {
    if (isa<ConstantOp>(op)) {
      auto own = cast<RankedTensorType>(op->getResult(0).getType());
      if (own.getNumElements() >= largeFillElements) {
        return false;
      }
    } else if (isCheapMap(op)) {
      op->walk([&](arith::CmpIOp) { compares = true; });
    } else if (!isa<ReshapeOp>(op)) {
      return false;
    }
  }
  return compares && type.getRank() > 1 &&
         type.getNumElements() >= largeMaskElements;
}

namespace {

/// The constant part of a function.
class ConstantPart {
public:
  explicit ConstantPart(Operation *root) {
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != root && isEvaluable(op) &&
          llvm::all_of(valuesReadBy(op), [&](Value v) {
            return v.getDefiningOp() && constant.contains(v.getDefiningOp());
          })) {
        constant.insert(op);
      }
    });
  }

  std::vector<ConstantSubgraph> subgraphs(Decisions &decisions) {
    std::vector<ConstantSubgraph> found;
    // From the end: a subgraph that is too large makes its operands results.
    for (size_t i = constant.size(); i-- > 0;) {
      Operation *op = constant[i];
      if (isa<ConstantOp>(op)) {
        continue;
      }
      for (Value result : op->getResults()) {
        if (!isNeededOutside(result)) {
          continue;
        }
        ConstantSubgraph subgraph{result, operationsOf(op)};
        if (isMaskOfCoordinates(subgraph) && isReadByBodiesOnly(result)) {
          // Its parts as constants would say less.
          masks.insert(subgraph.operations.begin(), subgraph.operations.end());
        } else if (masks.contains(op)) {
          continue;
        } else if (worthEvaluating(subgraph, decisions)) {
          found.push_back(std::move(subgraph));
        } else {
          kept.insert(op);
        }
      }
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

private:
  /// True if something that stays in the program reads `value`.
  bool isNeededOutside(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      // A load stands for the primitive that it is in.
      Operation *reader = isa<LoadOp>(user) ? user->getParentOp() : user;
      return !constant.contains(reader) || kept.contains(reader);
    });
  }

  llvm::SetVector<Operation *> operationsOf(Operation *op) {
    llvm::SetVector<Operation *> reached;
    reached.insert(op);
    for (size_t i = 0; i < reached.size(); ++i) {
      for (Value operand : valuesReadBy(reached[i])) {
        reached.insert(operand.getDefiningOp());
      }
    }
    // Program order is the order of `constant`.
    llvm::SetVector<Operation *> ordered;
    for (Operation *candidate : constant) {
      if (reached.contains(candidate)) {
        ordered.insert(candidate);
      }
    }
    return ordered;
  }

  bool worthEvaluating(const ConstantSubgraph &subgraph, Decisions &decisions) {
    Operation *op = subgraph.result.getDefiningOp();
    auto root = op->getAttrOfType<StringAttr>("root");
    if (root && root.getValue() == "pack") {
      return true;
    }
    int64_t inputs = 0;
    for (Operation *input : subgraph.operations) {
      inputs +=
          isa<ConstantOp>(input) ? bytesOf(input->getResult(0)).value_or(0) : 0;
    }
    int64_t bytes = *bytesOf(subgraph.result);
    if (bytes > std::max(alwaysSmallBytes, 2 * inputs)) {
      decisions.refused(reasons::constantTooLarge, op->getLoc(),
                        op->getName().getStringRef(),
                        {{"bytes", static_cast<double>(bytes)}});
      return false;
    }
    bool isFill = isa<MapOp>(op) && subgraph.operations.size() == 1;
    auto elements =
        cast<RankedTensorType>(subgraph.result.getType()).getNumElements();
    return !isFill || elements < largeFillElements ||
           !isReadByBodiesOnly(subgraph.result);
  }

  static bool isReadByBodiesOnly(Value value) {
    return llvm::all_of(value.getUsers(),
                        [](Operation *user) { return isa<LoadOp>(user); });
  }

  llvm::SetVector<Operation *> constant;
  llvm::DenseSet<Operation *> kept;
  llvm::DenseSet<Operation *> masks; ///< that stay, and what they are made of
};

} // namespace

std::vector<ConstantSubgraph> findConstantSubgraphs(Operation *root,
                                                    Decisions &decisions) {
  return ConstantPart(root).subgraphs(decisions);
}

} // namespace tilewright
