//===- ConstantSubgraphs.cpp - what depends on constants alone ------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/ConstantSubgraphs.h"
#include "ir/BodyBuilder.h"
#include "passes/ReasonCodes.h"
#include "passes/TensorOperands.h"
#include "passes/normalize/CoordinateMasks.h"
#include "passes/normalize/Symbols.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// A folded constant may be this large whatever it is made of.
static constexpr int64_t alwaysSmallBytes = 1 << 20;

/// Fills of at least this many elements stay computations: their users compute
/// the value instead of reading it.
static constexpr int64_t largeFillElements = 33;

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

  std::vector<ConstantSubgraph>
  subgraphs(Decisions &decisions, std::vector<ConstantSubgraph> &masks) {
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
        if (isMaskOfCoordinates(result, subgraph.operations) &&
            isReadByBodiesOnly(result)) {
          // Its parts as constants would say less.
          ofMasks.insert(subgraph.operations.begin(),
                         subgraph.operations.end());
          masks.push_back(std::move(subgraph));
        } else if (ofMasks.contains(op)) {
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
  llvm::DenseSet<Operation *> ofMasks; ///< masks, and what they are made of
};

} // namespace

std::vector<ConstantSubgraph>
findConstantSubgraphs(Operation *root, Decisions &decisions,
                      std::vector<ConstantSubgraph> &masks) {
  return ConstantPart(root).subgraphs(decisions, masks);
}

} // namespace tilewright
