//===- Region.cpp - what a fused region computes --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/Region.h"
#include "ir/Slices.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/AttentionForm.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

static Status illegal(FusedOp op, const Twine &reason) {
  return Status(
      ErrorCode::Internal,
      ("region '" + op.getSymName() + "' is not legal: " + reason).str());
}

SmallVector<ReduceOp> FusedRegion::getReduces() const {
  SmallVector<ReduceOp> reduces;
  for (Operation *primitive : primitives) {
    if (auto reduce = dyn_cast<ReduceOp>(primitive)) {
      reduces.push_back(reduce);
    }
  }
  return reduces;
}

Value stripReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    value = reshape.getSource();
  }
  return value;
}

/// True for a value that a primitive of the region computes.
static bool isComputed(Value value) {
  Operation *op = stripReshapes(value).getDefiningOp();
  return op && isPrimitive(op);
}

/// Checks that every load of a value of the region happens at the loader's own
/// first `count` coordinates.
static Status checkOwnCoordinates(FusedOp op, Operation *primitive,
                                  std::optional<unsigned> rows) {
  Status status;
  Block &body = primitive->getRegion(0).front();
  body.walk([&](LoadOp load) {
    if (!isComputed(load.getSource())) {
      return;
    }
    ValueRange indices = load.getIndices();
    unsigned count = rows ? *rows : indices.size();
    if (indices.size() < count || body.getNumArguments() < count) {
      status = illegal(op, "a load has too few coordinates");
      return;
    }
    for (unsigned i = 0; i < count; ++i) {
      bool isOnly = indices[i] == body.getArgument(i);
      // An axis of extent one has a single coordinate, whatever it is called.
      bool isTrivial = dimsOf(load.getSource().getType())[i].isConstant(1);
      if (!isOnly && !isTrivial) {
        status =
            illegal(op, "a value of the region is loaded at other coordinates");
      }
    }
    if (load.getGuard() && !rows) {
      status = illegal(op, "a value of the region is loaded under a guard");
    }
  });
  return status;
}

static Status checkTypes(FusedOp op) {
  Status status;
  auto check = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor ||
        !llvm::all_of(dimsOf(tensor), [](DimExpr d) { return bool(d); })) {
      status = illegal(op, "a tensor has an axis of unknown size");
    }
  };
  for (Value argument : op.getBody().getArguments()) {
    check(argument.getType());
  }
  for (Operation &inner : op.getBody().front().without_terminator()) {
    llvm::for_each(inner.getResultTypes(), check);
  }
  return status;
}

static Status analyseRows(FusedRegion &region) {
  for (Operation *primitive : region.primitives) {
    if (!isa<MapOp, ReduceOp>(primitive)) {
      return illegal(region.op, "a row region holds maps and reductions only");
    }
    SmallVector<DimExpr> domain = domainOf(primitive);
    if (domain.size() < region.rows) {
      return illegal(region.op, "a primitive lacks the row coordinates");
    }
    ArrayRef<DimExpr> own = ArrayRef(domain).take_front(region.rows);
    if (region.parallel.empty()) {
      region.parallel.assign(own.begin(), own.end());
    }
    if (ArrayRef(region.parallel) != own) {
      return illegal(region.op, "the rows of its primitives differ");
    }
    if (auto reduce = dyn_cast<ReduceOp>(primitive);
        reduce && reduce.getParallelRank() != region.rows) {
      return illegal(region.op,
                     "a reduction gives more than one scalar per row");
    }
    TW_RETURN_IF_ERROR(checkOwnCoordinates(region.op, primitive, region.rows));
  }
  return Status::ok();
}

/// Checks that a reduction of a nest has the nest's domain and needs nothing
/// that the nest computes.
static Status checkReduction(const FusedRegion &region, ReduceOp reduce) {
  if (dimsOf(reduce.getType()) != region.parallel) {
    return illegal(region.op, "the results of its reductions differ in size");
  }
  for (LoadOp load : reduce.getBody().getOps<LoadOp>()) {
    if (isComputed(load.getSource())) {
      return illegal(region.op, "a reduction reads what the region computes");
    }
  }
  return Status::ok();
}

/// True for a reduction that gives more than one element for a row.
static bool givesElements(const FusedRegion &region, Operation *primitive) {
  auto reduce = dyn_cast<ReduceOp>(primitive);
  return reduce && reduce.getParallelRank() > region.rows;
}

/// True if `primitive` can be a part of the nest before the rows, given what
/// else is: a reduction that gives their elements, or a map over these that
/// reads the nest alone, at its own coordinates.
static bool belongsToNest(const FusedRegion &region, Operation *primitive,
                          const llvm::SmallPtrSetImpl<Operation *> &nest) {
  auto map = dyn_cast<MapOp>(primitive);
  if (!map) {
    return givesElements(region, primitive);
  }
  auto isOwn = [&](LoadOp load) {
    Operation *source = stripReshapes(load.getSource()).getDefiningOp();
    return !isComputed(load.getSource()) ||
           (nest.contains(source) && readsAtOwnCoordinates(load));
  };
  bool isOverElements = llvm::any_of(nest, [&](Operation *op) {
    return dimsOf(op->getResult(0).getType()) == map.getDomain();
  });
  return isOverElements && llvm::all_of(map.getBody().getOps<LoadOp>(), isOwn);
}

/// Puts what comes before the rows in front.
static Status analyseRowBlocks(FusedRegion &region) {
  FusedRegion before = region, rows = region;
  before.primitives.clear();
  rows.primitives.clear();
  llvm::stable_sort(region.primitives, [&](Operation *a, Operation *b) {
    return givesElements(region, a) && !givesElements(region, b);
  });
  llvm::SmallPtrSet<Operation *, 8> nest;
  for (Operation *primitive : region.primitives) {
    bool isBefore = belongsToNest(region, primitive, nest);
    (isBefore ? before : rows).primitives.push_back(primitive);
    if (isBefore) {
      nest.insert(primitive);
    }
  }
  if (rows.primitives.empty()) {
    return illegal(region.op, "there is nothing to do for the rows");
  }
  before.parallel = dimsOf(before.primitives.front()->getResult(0).getType());
  for (Operation *primitive : before.primitives) {
    if (auto reduce = dyn_cast<ReduceOp>(primitive)) {
      TW_RETURN_IF_ERROR(checkReduction(before, reduce));
    }
  }
  TW_RETURN_IF_ERROR(analyseRows(rows));
  region.parallel = rows.parallel;
  if (ArrayRef(before.parallel).take_front(region.rows) !=
      ArrayRef(region.parallel)) {
    return illegal(region.op, "the rows of its primitives differ");
  }
  region.nest = before.primitives.size();
  region.primitives = before.primitives;
  llvm::append_range(region.primitives, rows.primitives);
  return Status::ok();
}

static Status analyseAttention(FusedRegion &region) {
  const Reason *reason = nullptr;
  for (Operation *primitive : llvm::reverse(region.primitives)) {
    auto reduce = dyn_cast<ReduceOp>(primitive);
    auto form = reduce ? matchAttention(reduce, reason) : std::nullopt;
    if (form && form->members().size() == region.primitives.size()) {
      region.parallel = dimsOf(form->max.getType());
      return Status::ok();
    }
  }
  return illegal(region.op, "it is not attention");
}

Result<FusedRegion> analyseRegion(FusedOp op) {
  FusedRegion region;
  region.op = op;
  TW_RETURN_IF_ERROR(checkTypes(op));
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (isPrimitive(&inner)) {
      region.primitives.push_back(&inner);
    }
  }
  // The reductions of a nest read nothing of the region, so they can always
  // come first.
  if (!op->hasAttr("rows") && !op->hasAttr("attention")) {
    llvm::stable_sort(region.primitives, [](Operation *a, Operation *b) {
      return isa<ReduceOp>(a) && !isa<ReduceOp>(b);
    });
  }
  if (region.primitives.empty()) {
    return illegal(op, "it computes nothing");
  }
  for (Value value : region.getYield().getOperands()) {
    if (!isComputed(value)) {
      return illegal(op, "it yields what it does not compute");
    }
  }
  if (op->hasAttr("attention")) {
    region.form = Form::Attention;
    TW_RETURN_IF_ERROR(analyseAttention(region));
    return region;
  }
  if (auto rows = op->getAttrOfType<IntegerAttr>("rows")) {
    region.rows = rows.getInt();
    bool isBehindNest =
        llvm::any_of(region.primitives, [&](Operation *primitive) {
          return givesElements(region, primitive);
        });
    region.form = isBehindNest ? Form::RowBlocks : Form::Rows;
    TW_RETURN_IF_ERROR(isBehindNest ? analyseRowBlocks(region)
                                    : analyseRows(region));
    return region;
  }
  Operation *first = region.primitives.front();
  if (isa<ScanOp, ScatterOp>(first)) {
    if (region.primitives.size() != 1) {
      return illegal(op, "a scan or a scatter stands alone");
    }
    region.form = isa<ScanOp>(first) ? Form::Scan : Form::Scatter;
    region.parallel = domainOf(first);
    return region;
  }
  region.form = isa<ReduceOp>(first) ? Form::Reduce : Form::Pointwise;
  region.parallel = dimsOf(first->getResult(0).getType());
  DimExpr count = productOf(op.getContext(), region.parallel);
  for (Operation *primitive : region.primitives) {
    if (auto reduce = dyn_cast<ReduceOp>(primitive)) {
      TW_RETURN_IF_ERROR(checkReduction(region, reduce));
      continue;
    }
    auto map = dyn_cast<MapOp>(primitive);
    if (!map) {
      return illegal(op, "a scan or a scatter stands alone");
    }
    if (map.getDomain() != region.parallel &&
        productOf(op.getContext(), map.getDomain()) != count) {
      return illegal(op, "the domains of its primitives differ");
    }
    TW_RETURN_IF_ERROR(checkOwnCoordinates(op, primitive, std::nullopt));
  }
  return region;
}

/// Adds a size, and the factors of its terms: the product of two sizes, which a
/// kernel needs for a merged axis, distributes over sums, so it may consist of
/// factors that no axis has alone.
static void addSize(DimExpr size, llvm::SetVector<DimExpr> &sizes) {
  if (size.getConstant()) {
    return;
  }
  sizes.insert(size);
  if (size.kind() == DimExpr::Kind::Add || size.kind() == DimExpr::Kind::Mul) {
    for (DimExpr operand : size.operands()) {
      addSize(operand, sizes);
    }
  }
}

SmallVector<DimExpr> sizesOf(FusedOp op) {
  llvm::SetVector<DimExpr> sizes;
  auto add = [&](ArrayRef<DimExpr> dims) {
    for (DimExpr dim : dims) {
      addSize(dim, sizes);
    }
  };
  for (Value argument : op.getBody().getArguments()) {
    add(dimsOf(argument.getType()));
  }
  for (Operation &inner : op.getBody().front().without_terminator()) {
    for (Type type : inner.getResultTypes()) {
      add(dimsOf(type));
    }
    if (isPrimitive(&inner)) {
      add(domainOf(&inner));
    }
    inner.walk([&](SizeOp size) { add(DimExpr(size.getSize())); });
  }
  SmallVector<Value> outside(op.getInputs());
  llvm::append_range(outside, op.getResults());
  for (Value value : outside) {
    if (std::optional<Slice> slice = sliceOf(value)) {
      add(dimsOf(slice->whole));
      add(slice->offset);
    }
  }
  return sizes.takeVector();
}

SmallVector<DimExpr> stridesOf(MLIRContext *context, ArrayRef<DimExpr> dims) {
  SmallVector<DimExpr> strides(dims.size());
  DimExpr stride = DimExpr::constant(context, 1);
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride = stride * dims[i];
  }
  return strides;
}

Operation *productOfBody(ReduceOp reduce) {
  if (reduce.getKind() != FoldKind::Add) {
    return nullptr;
  }
  Operation *product = yieldOf(reduce).getOperand(0).getDefiningOp();
  bool isProduct = product && isa<arith::MulFOp, arith::MulIOp>(product) &&
                   product->hasOneUse();
  return isProduct ? product : nullptr;
}

} // namespace tilewright::families
