//===- TransposeSimt.cpp - maps that read across memory -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/nest/TransposeSimt.h"
#include "codegen/families/emit/Access.h"
#include "codegen/families/emit/BodyEmitter.h"
#include "codegen/families/emit/Grid.h"
#include "codegen/families/emit/IndexMath.h"
#include "codegen/families/emit/MemoryAccess.h"
#include "codegen/families/nest/Nest.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

/// The square of a block, and its threads: a warp goes along one side.
constexpr int64_t side = 32, blockThreads = 256;
/// Elements of a line in shared memory: a word more than a side, so that a
/// column lies in as many banks as a line.
static int64_t pitchOf(int64_t elementBytes) {
  constexpr int64_t bankBytes = 4;
  return side + std::max<int64_t>(bankBytes / elementBytes, 1);
}

/// Of fewer elements along an axis, a warp reads most of a sector anyway.
constexpr int64_t fewest = 8;

namespace {

/// What a region reads across its results.
struct Crossing {
  TileDomain domain;
  unsigned axis;             ///< of the domain, along which operands lie
  SmallVector<LoadOp> loads; ///< that are contiguous along it
};

} // namespace

static bool readsOperand(LoadOp load) {
  return isa<BlockArgument>(stripReshapes(load.getSource()));
}

static std::optional<Crossing> crossingOf(const FusedRegion &region) {
  Crossing crossing;
  crossing.domain = tileDomainOf(region);
  ArrayRef<TileAxis> axes = crossing.domain.parallel;
  if (axes.size() < 2 || axes.back().last + 1 != region.parallel.size() ||
      guessedExtent(axes.back().extent, false) < fewest) {
    return std::nullopt;
  }
  for (Operation *primitive : region.primitives) {
    if (domainOf(primitive) != region.parallel) {
      return std::nullopt; // a reshape between primitives
    }
  }
  for (unsigned axis = 0; axis + 1 < axes.size(); ++axis) {
    if (guessedExtent(axes[axis].extent, false) < fewest) {
      continue;
    }
    for (Operation *primitive : region.primitives) {
      primitive->walk([&](LoadOp load) {
        Block &body = *load->getBlock();
        bool crosses = readsOperand(load) &&
                       movementOf(load, body.getArgument(axes[axis].last), 1) ==
                           Movement::Contiguous &&
                       movementOf(load, body.getArgument(axes.back().last),
                                  1) == Movement::Strided;
        if (crosses) {
          crossing.loads.push_back(load);
        }
      });
    }
    if (!crossing.loads.empty()) {
      crossing.axis = axis;
      return crossing;
    }
  }
  return std::nullopt;
}

namespace {

class TransposeEmitter {
public:
  TransposeEmitter(KernelFrame &frame, const Crossing &crossing)
      : frame(frame), b(frame.getBuilder()), math(b), region(frame.getRegion()),
        crossing(crossing), axes(crossing.domain.parallel) {}

  Status run();

private:
  Status square(ArrayRef<Value> at);
  /// Calls `body` for each element of the square that this thread has, with its
  /// coordinates. Sets `ofOperand` and `ofResult`.
  /// \param alongResults whether threads side by side go along the results.
  Status each(bool alongResults,
              llvm::function_ref<Status(ArrayRef<Lanes>)> body);
  Status bring(ArrayRef<Lanes> at);
  Status compute(ArrayRef<Lanes> at);
  /// \returns the element's place in a square of shared memory.
  Lanes placeIn(const Memory &memory) {
    int64_t pitch = pitchOf(storageBytes(memory.element));
    return Lanes::index(math.plus(math.times(ofResult, pitch), ofOperand));
  }

  KernelFrame &frame;
  LaneBuilder &b;
  IndexMath math;
  const FusedRegion &region;
  const Crossing &crossing;
  ArrayRef<TileAxis> axes;
  SmallVector<Memory> squares; ///< in shared memory, of each load
  SmallVector<Lanes> position; ///< where the square begins
  Value lane, line;            ///< of this thread
  Value ofOperand, ofResult;   ///< places of an element along both sides
};

} // namespace

Status TransposeEmitter::run() {
  for (LoadOp load : crossing.loads) {
    Type element = elementTypeOf(load.getSource().getType());
    Value square = frame.takeShared(storageType(element),
                                    side * pitchOf(storageBytes(element)),
                                    storageBytes(element));
    squares.push_back({b.named("square", square), element});
  }
  Value thread = frame.laneOfTeam();
  lane = b.named("lane", math.mod(thread, side));
  line = b.named("line", math.over(thread, side));
  SmallVector<Lanes> counts;
  for (auto [number, axis] : llvm::enumerate(axes)) {
    Lanes extent = frame.size(axis.extent);
    bool isSide = number == crossing.axis || number + 1 == axes.size();
    counts.push_back(isSide ? b.floorDiv(b.add(extent, Lanes::index(side - 1)),
                                         Lanes::index(side))
                            : extent);
  }
  return emitTaskLoop(frame, counts,
                      [&](ArrayRef<Value> at) { return square(at); });
}

Status TransposeEmitter::square(ArrayRef<Value> at) {
  position.assign(region.parallel.size(), Lanes::index(0));
  for (auto [number, axis] : llvm::enumerate(axes)) {
    bool isSide = number == crossing.axis || number + 1 == axes.size();
    position[axis.last] =
        Lanes::index(isSide ? math.times(at[number], side) : at[number]);
  }
  TW_RETURN_IF_ERROR(each(/*alongResults=*/false,
                          [&](ArrayRef<Lanes> own) { return bring(own); }));
  b.create<gpu::BarrierOp>();
  return each(/*alongResults=*/true,
              [&](ArrayRef<Lanes> own) { return compute(own); });
}

Status
TransposeEmitter::each(bool alongResults,
                       llvm::function_ref<Status(ArrayRef<Lanes>)> body) {
  constexpr int64_t lines = blockThreads / side;
  auto loop = b.create<scf::ForOp>(
      b.constantIndex(0), b.constantIndex(side / lines), b.constantIndex(1));
  loop->setAttr(twk::nameAttr, b.getStringAttr("i"));
  loop->setAttr(twk::unrollAttr, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value own = math.plus(line, math.times(loop.getInductionVar(), lines));
  // Lines of shared memory lie along the operand.
  ofOperand = alongResults ? own : lane;
  ofResult = alongResults ? lane : own;
  SmallVector<Lanes> at(position);
  Value exists;
  auto advance = [&](const TileAxis &axis, Value by) {
    Value value = math.plus(b.first(at[axis.last]), by);
    at[axis.last] = Lanes::index(value);
    std::optional<int64_t> extent = axis.extent.getConstant();
    if (!extent || *extent % side != 0) {
      exists =
          math.both(exists, math.isLess(value, frame.sizeValue(axis.extent)));
    }
  };
  advance(axes[crossing.axis], ofOperand);
  advance(axes.back(), ofResult);
  auto element = [&] { return body(at); };
  return exists ? emitIf(b, exists, element) : element();
}

Status TransposeEmitter::bring(ArrayRef<Lanes> at) {
  for (auto [load, memory] : llvm::zip(crossing.loads, squares)) {
    BodyEmitter emitter(frame, *load->getBlock(), Value());
    Result<Lanes> value = emitter.emitFor(0, at, LoadOp(load).getResult());
    TW_RETURN_IF_ERROR(value.status());
    storeLanes(frame, memory, placeIn(memory), *value, Value());
  }
  return Status::ok();
}

Status TransposeEmitter::compute(ArrayRef<Lanes> at) {
  frame.clearRegisters();
  BodyVariant variant;
  variant.load = [&](LoadOp load, unsigned) -> std::optional<Lanes> {
    for (auto [own, memory] : llvm::zip(crossing.loads, squares)) {
      if (load == own) {
        return loadLanes(frame, memory, placeIn(memory), Activity());
      }
    }
    return std::nullopt;
  };
  for (Operation *primitive : region.primitives) {
    auto map = cast<MapOp>(primitive);
    BodyEmitter emitter(frame, map.getBody().front(), Value(), variant);
    TW_RETURN_IF_ERROR(emitter.emit(0, at));
    for (auto [result, yielded] :
         llvm::zip(map.getResults(), yieldOf(map).getOperands())) {
      frame.setRegister(result, 0, emitter.get(yielded));
      for (const Memory &memory : frame.outputsOf(result)) {
        storeLanes(frame, memory, offsetOf(frame, memory, result.getType(), at),
                   emitter.get(yielded), Value());
      }
    }
  }
  frame.clearRegisters();
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The tactic
//===----------------------------------------------------------------------===//

std::optional<Refusal>
TransposedMaps::applicable(FusedOp op, const TargetSpec &target) const {
  if (auto refusal = ReferenceTactic::applicable(op, target)) {
    return refusal;
  }
  return crossingOf(*analyseRegion(op))
             ? std::nullopt
             : std::optional(
                   Refusal{"TWT143", "no operand is read across the results"});
}

Result<DictionaryAttr> TransposedMaps::choose(FusedOp op,
                                              const TargetSpec &target) const {
  Builder b(op.getContext());
  auto attribute =
      b.getDictionaryAttr(b.getNamedAttr("name", b.getStringAttr(name())));
  return Grid::fill(target, blockThreads, blockThreads).addTo(attribute);
}

static Result<Crossing> requireCrossing(const FusedRegion &region) {
  if (auto crossing = crossingOf(region)) {
    return *crossing;
  }
  return Status(ErrorCode::Internal, "region '" +
                                         FusedOp(region.op).getSymName().str() +
                                         "' reads nothing across its results");
}

Result<Launch> TransposedMaps::launch(FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Result<Crossing> crossing = requireCrossing(*region);
  TW_RETURN_IF_ERROR(crossing.status());
  Launch launch;
  launch.sizes = sizesOf(op);
  launch.workspaceBytes = DimExpr::constant(op.getContext(), 0);
  launch.tasks = DimExpr::constant(op.getContext(), 1);
  for (auto [number, axis] : llvm::enumerate(crossing->domain.parallel)) {
    bool isSide = number == crossing->axis ||
                  number + 1 == crossing->domain.parallel.size();
    launch.tasks =
        launch.tasks * (isSide ? axis.extent.ceilDiv(side) : axis.extent);
  }
  launch.inPlace = true;
  for (LoadOp load : crossing->loads) {
    int64_t bytes =
        storageBytes(elementTypeOf(LoadOp(load).getSource().getType()));
    launch.shared += side * pitchOf(bytes) * bytes;
  }
  return overTeams(launch, Grid::fromAttribute(parametersOf(op)));
}

Result<twk::KernelOp> TransposedMaps::build(FusedOp op,
                                            const TargetSpec &target,
                                            StringRef kernelName,
                                            OpBuilder &builder) const {
  Result<FusedRegion> region = analyseRegion(op);
  TW_RETURN_IF_ERROR(region.status());
  Result<Crossing> crossing = requireCrossing(*region);
  TW_RETURN_IF_ERROR(crossing.status());
  KernelFrame frame(*region, target, kernelName, builder);
  return frame.finish(TransposeEmitter(frame, *crossing).run());
}

} // namespace tilewright::families
