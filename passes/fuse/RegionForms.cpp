//===- RegionForms.cpp - which primitives can be one kernel ---------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/RegionForms.h"
#include "passes/fuse/Access.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tilewright {

using namespace tw;

/// A row that long gives a thread enough work alone …
static constexpr int64_t longRow = 1 << 16;
/// … and so few rows leave threads idle.
static constexpr int64_t fewRows = 4;

namespace {

/// A set of primitives under examination.
class Members {
public:
  explicit Members(ArrayRef<Operation *> operations)
      : operations(operations), set(operations.begin(), operations.end()) {
    for (Operation *op : operations) {
      if (auto reduce = dyn_cast<ReduceOp>(op)) {
        reduces.push_back(reduce);
      }
    }
  }

  RegionShape shape() const {
    if (operations.size() == 1) {
      return {};
    }
    for (Operation *op : operations) {
      if (!isa<MapOp, ReduceOp>(op)) {
        return refuse(reasons::regionDomains);
      }
    }
    if (reduces.empty()) {
      return areMapsOver(cast<MapOp>(operations.front()).getDomain())
                 ? RegionShape{RegionForm::Maps}
                 : refuse(reasons::regionDomains);
    }
    if (isNest()) {
      return RegionShape{RegionForm::Reduction};
    }
    return isBehindContraction() ? rowBlocks() : rows();
  }

private:
  static RegionShape refuse(const Reason &reason) {
    RegionShape shape;
    shape.reason = &reason;
    return shape;
  }

  bool isMember(Value value) const {
    return value.getDefiningOp() && set.contains(value.getDefiningOp());
  }

  /// The loads of `op` that read another member.
  SmallVector<LoadOp> innerLoads(Operation *op) const {
    SmallVector<LoadOp> loads;
    for (LoadOp load : op->getRegion(0).getOps<LoadOp>()) {
      if (isMember(load.getSource())) {
        loads.push_back(load);
      }
    }
    return loads;
  }

  bool reads(Operation *op) const { return !innerLoads(op).empty(); }

  /// True for a reduction, or contractions that give the same dims, before maps
  /// over these.
  bool isNest() const {
    SmallVector<DimExpr> dims = dimsOf(reduces.front()->getResult(0).getType());
    bool isAlone = reduces.size() == 1;
    return areMapsOver(dims) && llvm::all_of(reduces, [&](ReduceOp reduce) {
             return dimsOf(ReduceOp(reduce).getType()) == dims &&
                    (isAlone || isContraction(reduce)) && !reads(reduce);
           });
  }

  /// True if all maps have the domain and read members at their coordinates.
  bool areMapsOver(ArrayRef<DimExpr> domain) const {
    return llvm::all_of(operations, [&](Operation *op) {
      auto map = dyn_cast<MapOp>(op);
      return !map || (ArrayRef(map.getDomain()) == domain &&
                      llvm::all_of(innerLoads(map), readsAtOwnCoordinates));
    });
  }

  /// True if some contraction gives more than one element for a row of another
  /// reduction.
  bool isBehindContraction() const {
    auto rank = [](ReduceOp reduce) { return reduce.getParallelRank(); };
    auto isShort = [&](ReduceOp reduce) {
      return !isContraction(reduce) &&
             llvm::any_of(reduces, [&](ReduceOp other) {
               return isContraction(other) && rank(other) > rank(reduce);
             });
    };
    return llvm::any_of(reduces, isShort);
  }

  /// Contractions over all elements, and rows as below of the same elements.
  RegionShape rowBlocks() const {
    SmallVector<DimExpr> all, rowDims;
    for (ReduceOp reduce : reduces) {
      SmallVector<DimExpr> own = dimsOf(reduce.getType());
      bool isBefore = isContraction(reduce);
      SmallVector<DimExpr> elements =
          isBefore ? own : SmallVector<DimExpr>(reduce.getDomain());
      if (all.empty()) {
        all = elements;
      }
      if (!isBefore && rowDims.empty()) {
        rowDims = own;
      }
      if (elements != all || (isBefore && reads(reduce)) ||
          (!isBefore && own != rowDims) || reduce.isArg()) {
        return refuse(reasons::regionTwoReductions);
      }
    }
    for (Operation *op : operations) {
      auto reduce = dyn_cast<ReduceOp>(op);
      if (!(reduce && isContraction(reduce)) &&
          !belongsToRows(op, rowDims, all)) {
        return refuse(reasons::regionDomains);
      }
    }
    RegionShape shape;
    shape.form = RegionForm::RowBlocks;
    shape.rows = rowDims.size();
    return shape;
  }

  RegionShape rows() const {
    SmallVector<DimExpr> rowDims =
        dimsOf(reduces.front()->getResult(0).getType());
    SmallVector<DimExpr> all = ReduceOp(reduces.front()).getDomain();
    for (ReduceOp reduce : reduces) {
      if (isContraction(reduce) || reduce.isArg()) {
        return refuse(reduces.size() > 1 ? reasons::regionTwoReductions
                                         : reasons::regionDomains);
      }
      if (reduce.getDomain() != all ||
          reduce.getParallelRank() != rowDims.size()) {
        return refuse(reasons::regionTwoReductions);
      }
    }
    for (Operation *op : operations) {
      if (!belongsToRows(op, rowDims, all)) {
        return refuse(reasons::regionDomains);
      }
    }
    if (hasTooFewRows(rowDims, all)) {
      return refuse(reasons::regionTooFewRows);
    }
    RegionShape shape;
    shape.form = RegionForm::Rows;
    shape.rows = rowDims.size();
    return shape;
  }

  /// True if a primitive walks rows, or the elements of rows, and reads other
  /// members at its own coordinates.
  bool belongsToRows(Operation *op, ArrayRef<DimExpr> rowDims,
                     ArrayRef<DimExpr> all) const {
    SmallVector<DimExpr> domain = domainOf(op);
    if (ArrayRef(domain) != all && ArrayRef(domain) != rowDims) {
      return false;
    }
    return llvm::all_of(innerLoads(op), [&](LoadOp load) {
      SmallVector<DimExpr> source = dimsOf(load.getSource().getType());
      bool isRow = ArrayRef(source) == rowDims;
      bool isElement = ArrayRef(source) == all && ArrayRef(domain) == all;
      return (isRow || isElement) && readsAtOwnCoordinates(load);
    });
  }

  static bool hasTooFewRows(ArrayRef<DimExpr> rowDims, ArrayRef<DimExpr> all) {
    MLIRContext *context = all.front().getContext();
    std::optional<int64_t> count = productOf(context, rowDims).getConstant();
    std::optional<int64_t> length =
        productOf(context, all.drop_front(rowDims.size())).getConstant();
    return count && *count <= fewRows && (!length || *length >= longRow);
  }

  ArrayRef<Operation *> operations;
  llvm::SmallPtrSet<Operation *, 16> set;
  SmallVector<ReduceOp> reduces;
};

} // namespace

RegionShape shapeOf(ArrayRef<Operation *> members) {
  return Members(members).shape();
}

} // namespace tilewright
