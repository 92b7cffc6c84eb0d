//===- KernelFrame.h - a kernel under construction --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The kernel, its sizes and its memory, and what of the region's values lies
// in registers at the point where code is emitted.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/families/Region.h"
#include "codegen/families/emit/Lanes.h"
#include "ir/Slices.h"
#include "ir/twk/TwkOps.h"
#include "targets/TargetSpec.h"

namespace tilewright::families {

/// Memory that holds a tensor of the region, row-major. MemoryAccess.h's
/// offsetOf knows where in it an element lies; nothing else should assume.
struct Memory {
  mlir::Value memref;
  mlir::Type element;
  /// So many leading coordinates do not take part in the address: the memory
  /// holds one row.
  unsigned ignored = 0;
  /// Set when the tensor is a slice of what the memory holds.
  std::optional<tw::Slice> slice = std::nullopt;
  /// Whole vectors are written past the caches; their first element is at a
  /// multiple of the target's vector.
  bool isStreamed = false;
  /// Whole vectors are stored at multiples of the target's vector, whatever
  /// their offset says.
  bool linesUp = false;
  /// Contiguous loads ask for what comes next.
  bool readsAhead = false;
  /// The number of the tensor's element that lies first in the memory; null: 0.
  mlir::Value origin = nullptr;
  /// GPU: it begins at a multiple of 16 bytes, as buffers do.
  bool isAligned = false;
};

/// The type of a body's scalar in a kernel: small floats are integers of their
/// width, everything else stays.
mlir::Type bodyType(mlir::Type scalar);
/// The element type of the buffer that holds a tensor of `element`.
mlir::Type storageType(mlir::Type element);
/// \returns the bytes of one element in memory.
int64_t storageBytes(mlir::Type element);

/// A kernel that asked for a size that is not among its own has this attribute.
/// It is a fault of the tactic that built it.
constexpr llvm::StringLiteral missingSizeName = "twk.missing_size";

class KernelFrame {
public:
  /// Makes the kernel at the builder's insertion point and enters it.
  KernelFrame(const FusedRegion &region, const TargetSpec &target,
              llvm::StringRef name, mlir::OpBuilder &builder);

  LaneBuilder &getBuilder() { return b; }
  const TargetSpec &getTarget() const { return target; }
  const FusedRegion &getRegion() const { return region; }
  twk::KernelOp getKernel() const { return kernel; }
  /// \returns the kernel, or erases what there is of it if `status` is an
  /// error, and returns that.
  Result<twk::KernelOp> finish(const Status &status);
  /// Whether the kernel is for one of a GPU's threads.
  bool isSimt() { return kernel.isSimt(); }

  /// A size as a constant or as a value of the entry block.
  Lanes size(tw::DimExpr size);
  mlir::Value sizeValue(tw::DimExpr expr) { return b.first(size(expr)); }
  /// The row-major strides of a tensor type.
  llvm::ArrayRef<Lanes> stridesOf(mlir::Type tensor);

  /// Scratch memory of the caller, a worker or one of a GPU's threads, of whom
  /// each has `bytes`.
  mlir::Value workspace(const Lanes &bytes);
  /// \returns `bytes` rounded up to whole cache lines.
  Lanes wholeLines(const Lanes &bytes);
  /// GPU: the threads that compute a task together, the number of this one
  /// among them, and that of its team in the grid.
  int64_t teamSize() const { return team; }
  /// GPU: so many threads of a team side by side compute different results;
  /// those at equal places, the lanes of the team in between, share one.
  int64_t teamAcross() const { return across; }
  void setTeamAcross(int64_t places) { across = places; }
  mlir::Value placeAcross();
  /// GPU: this thread's number among those that share its results, and how many
  /// they are.
  mlir::Value laneOfResult();
  int64_t lanesOfResult() const { return team / across; }
  mlir::Value laneOfTeam();
  mlir::Value teamOfGrid();
  /// GPU: the teams of the grid.
  mlir::Value teamsOfGrid();
  /// GPU: `count` elements of the block's shared memory, from `byteOffset` on.
  mlir::Value sharedView(mlir::Type element, int64_t byteOffset, int64_t count);
  /// GPU: the next `count` elements of the block's shared memory, each of which
  /// has `slotBytes`. The launch asks for as much as a kernel takes.
  mlir::Value takeShared(mlir::Type element, int64_t count, int64_t slotBytes);
  int64_t sharedBytes() const { return sharedTaken; }

  /// The memory of an argument or result of the region, or of a row buffer;
  /// reshapes share their operand's. Null if there is none.
  const Memory *memoryOf(mlir::Value value) const;
  void setMemory(mlir::Value value, Memory memory);
  /// The buffers that `value` must be written to: one per time it is yielded.
  llvm::ArrayRef<Memory> outputsOf(mlir::Value value) const;
  /// Whether stores to the outputs of `values` stream from here on.
  void setStreaming(llvm::ArrayRef<mlir::Value> values, bool isStreamed);
  /// Loads from operands of the region read ahead from here on.
  void readOperandsAhead();

  /// What a value of the region is at the coordinates of register copy `copy`.
  const Lanes *registerOf(mlir::Value value, unsigned copy) const;
  void setRegister(mlir::Value value, unsigned copy, Lanes lanes);
  /// Forgets all registers: their scope has ended.
  void clearRegisters() { registers.clear(); }

  /// Sets the status word: an index was out of range.
  void reportBadIndex(mlir::Value condition);

private:
  Lanes compute(tw::DimExpr expr);
  void makeConstant(tw::ConstantOp constant);

  const FusedRegion &region;
  const TargetSpec &target;
  LaneBuilder b;
  twk::KernelOp kernel;
  int64_t team = 1, across = 1;
  int64_t sharedTaken = 0;
  mlir::Operation *entryEnd = nullptr; // sizes are computed before this
  llvm::DenseMap<tw::DimExpr, Lanes> sizes;
  llvm::DenseMap<mlir::Type, llvm::SmallVector<Lanes>> strides;
  llvm::DenseMap<mlir::Value, Memory> memories;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Memory>> outputs;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, Lanes> registers;
};

} // namespace tilewright::families
