//===- JoinParts.cpp - concatenations are where their parts are -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A region that only puts tensors end to end becomes a tw.join: the regions
// that compute the parts write into its memory, and whoever reads a part reads
// there. A part that needs memory of its own is copied by a region of one map.
// The last concatenation comes first, so that one of a concatenation finds its
// place before its own parts do.
//
//===----------------------------------------------------------------------===//

#include "ir/BodyBuilder.h"
#include "ir/Slices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ReasonCodes.h"
#include "passes/fuse/Access.h"
#include "passes/fuse/BuildRegion.h"
#include "passes/fuse/ConcatBody.h"
#include "passes/fuse/Passes.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_JOINPARTS
#include "passes/fuse/Passes.h.inc"

using namespace tw;

/// More launches than before must save so many bytes each, written and read.
static constexpr int64_t bytesPerLaunch = 64 << 10;

//===----------------------------------------------------------------------===//
// Which parts can lie in the whole
//===----------------------------------------------------------------------===//

/// The map of a region that holds nothing else.
static MapOp onlyMap(FusedOp fused) {
  Block &block = fused.getBody().front();
  if (!llvm::hasSingleElement(block.without_terminator())) {
    return {};
  }
  return dyn_cast<MapOp>(block.front());
}

/// True if kernels address argument `number` of `fused` element by element.
static bool readsElements(FusedOp fused, unsigned number) {
  return llvm::all_of(fused.getBody().getArgument(number).getUsers(),
                      [](Operation *user) { return isa<LoadOp>(user); });
}

/// True if what computes `part` can write rows apart from each other, and
/// whatever reads it can read them so.
static bool canLieElsewhere(Value part, FusedOp concat) {
  auto producer = part.getDefiningOp<FusedOp>();
  if (!producer || producer->getBlock() != concat->getBlock()) {
    return false;
  }
  for (Operation &op : producer.getBody().front().without_terminator()) {
    if (!isa<MapOp, ReduceOp, ConstantOp, ReshapeOp>(op)) {
      return false;
    }
  }
  unsigned number = cast<OpResult>(part).getResultNumber();
  Value yielded = yieldOf(producer).getOperand(number);
  if (!isa_and_nonnull<MapOp, ReduceOp>(yielded.getDefiningOp())) {
    return false;
  }
  return llvm::all_of(part.getUses(), [&](OpOperand &use) {
    auto reader = dyn_cast<FusedOp>(use.getOwner());
    return reader && reader->getBlock() == concat->getBlock() &&
           readsElements(reader, use.getOperandNumber());
  });
}

/// True if every size of `whole` is known when the function is entered, so that
/// its memory is there for the first part.
static bool isSizedByInputs(Type whole, func::FuncOp function) {
  llvm::StringSet<> known;
  for (Type type : function.getArgumentTypes()) {
    for (DimExpr dim : dimsOf(type)) {
      if (dim && !dim.symbolName().empty()) {
        known.insert(dim.symbolName());
      }
    }
  }
  bool all = true;
  for (DimExpr dim : dimsOf(whole)) {
    dim.forEachSymbol(
        [&](StringRef symbol) { all = all && known.contains(symbol); });
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

namespace {

class Joiner {
public:
  Joiner(FusedOp fused, MapOp map, ConcatBody concat, Decisions &decisions)
      : fused(fused), map(map), concat(std::move(concat)),
        decisions(decisions) {}

  void run(RegionNames &names);

private:
  /// The operand that a piece is, if it can lie in the whole.
  Value placed(const ConcatPiece &piece);
  /// A map that computes a piece.
  Value copy(const ConcatPiece &piece);

  FusedOp fused;
  MapOp map;
  ConcatBody concat;
  Decisions &decisions;
};

} // namespace

Value Joiner::placed(const ConcatPiece &piece) {
  LoadOp load = piece.load;
  auto argument = dyn_cast<BlockArgument>(load.getSource());
  if (!piece.isWhole || !argument) {
    return {};
  }
  Value part = fused.getInputs()[argument.getArgNumber()];
  return canLieElsewhere(part, fused) ? part : Value();
}

/// Copies what a load's coordinates are computed from; `base` is coordinate
/// `axis` minus the piece's offset.
static Value copyIndex(OpBuilder &builder, Value index, IRMapping &mapping,
                       const ConcatPiece &piece, BlockArgument coordinate,
                       Value base) {
  if (Value known = mapping.lookupOrNull(index)) {
    return known;
  }
  if (index != coordinate && shiftOf(index, coordinate) == piece.offset) {
    return base;
  }
  Operation *op = index.getDefiningOp();
  for (Value operand : op->getOperands()) {
    Value copied =
        copyIndex(builder, operand, mapping, piece, coordinate, base);
    if (copied != mapping.lookupOrNull(operand)) {
      mapping.map(operand, copied);
    }
  }
  return builder.clone(*op, mapping)->getResult(0);
}

Value Joiner::copy(const ConcatPiece &piece) {
  LoadOp load = piece.load;
  auto source = cast<BlockArgument>(load.getSource());
  Value operand = fused.getInputs()[source.getArgNumber()];
  OpBuilder builder(fused);
  SmallVector<DimExpr> dims = map.getDomain();
  dims[concat.axis] = piece.size;
  Block &body = map.getBody().front();
  Value copied = buildMap(
      builder, fused.getLoc(), dims, elementTypeOf(map.getResult(0).getType()),
      [&](BodyBuilder &b, ValueRange at) {
        IRMapping mapping;
        for (auto [from, to] : llvm::zip(body.getArguments(), at)) {
          mapping.map(from, to);
        }
        BlockArgument coordinate = body.getArgument(concat.axis);
        if (!piece.offset.isConstant(0)) {
          mapping.map(coordinate, b.add(at[concat.axis], b.size(piece.offset)));
        }
        SmallVector<Value> indices;
        for (Value index : load.getIndices()) {
          indices.push_back(
              copyIndex(b, index, mapping, piece, coordinate, at[concat.axis]));
        }
        return b.load(operand, indices);
      });
  return copied;
}

void Joiner::run(RegionNames &names) {
  SmallVector<Value> parts;
  llvm::DenseSet<Value> taken;
  int64_t copies = 0, savedBytes = 0;
  bool isSizeKnown = true;
  for (const ConcatPiece &piece : concat.pieces) {
    Value part = placed(piece);
    part = part && taken.insert(part).second ? part : Value();
    parts.push_back(part);
    copies += !part;
    if (part) {
      std::optional<int64_t> bytes = staticBytes(part.getType());
      isSizeKnown &= bytes.has_value();
      savedBytes += 2 * bytes.value_or(0);
    }
  }
  bool readsOperands = llvm::all_of(concat.pieces, [](ConcatPiece piece) {
    return isa<BlockArgument>(piece.load.getSource());
  });
  if (taken.empty() || !readsOperands) {
    decisions.refused(reasons::noPartInPlace, fused.getLoc(),
                      fused.getSymName());
    return;
  }
  if (copies > 1 && isSizeKnown && savedBytes < bytesPerLaunch * (copies - 1)) {
    decisions.refused(reasons::joinTooSmall, fused.getLoc(),
                      fused.getSymName());
    return;
  }
  SmallVector<Operation *> maps;
  for (auto [part, piece] : llvm::zip(parts, concat.pieces)) {
    if (!part) {
      decisions.refused(reasons::partCopied, fused.getLoc(),
                        fused.getSymName());
      part = copy(piece);
      maps.push_back(part.getDefiningOp());
    }
  }
  decisions.did(reasons::partsJoined, fused.getLoc(), fused.getSymName(),
                {{"copied", static_cast<double>(copies)},
                 {"bytes_saved", static_cast<double>(savedBytes)}});
  OpBuilder builder(fused);
  auto join = JoinOp::create(builder, fused.getLoc(),
                             fused.getResult(0).getType(), parts, concat.axis);
  for (Operation *copied : maps) {
    builder.setInsertionPoint(copied);
    buildRegion(builder, copied, shapeOf(copied), names);
  }
  fused.getResult(0).replaceAllUsesWith(join.getResult());
  fused.erase();
}

namespace {

class JoinParts : public impl::JoinPartsBase<JoinParts> {
public:
  explicit JoinParts(DecisionLog *log) : log(log) {}

  void runOnOperation() override {
    Decisions decisions(log, remarks);
    RegionNames names;
    getOperation().walk([&](FusedOp op) { names.take(op.getSymName()); });
    for (Block *block : graphBlocks(getOperation())) {
      SmallVector<FusedOp> regions(block->getOps<FusedOp>());
      for (FusedOp fused : llvm::reverse(regions)) {
        visit(fused, names, decisions);
      }
    }
  }

private:
  static void visit(FusedOp fused, RegionNames &names, Decisions &decisions) {
    MapOp map = onlyMap(fused);
    std::optional<ConcatBody> concat = map ? analyseConcat(map) : std::nullopt;
    auto function = fused->getParentOfType<func::FuncOp>();
    if (!concat || !function) {
      return;
    }
    // A part of a join along another axis would be a slice of two axes.
    std::optional<Slice> outer = sliceOfResult(fused, 0);
    bool fits = !outer || outer->axis == concat->axis;
    Type whole = outer ? outer->whole : fused.getResult(0).getType();
    if (!fits || !isSizedByInputs(whole, function)) {
      decisions.refused(reasons::noPartInPlace, fused.getLoc(),
                        fused.getSymName());
      return;
    }
    Joiner(fused, map, std::move(*concat), decisions).run(names);
  }

  DecisionLog *log;
};

} // namespace

std::unique_ptr<Pass> createJoinPartsPass(DecisionLog *log) {
  return std::make_unique<JoinParts>(log);
}

} // namespace tilewright
