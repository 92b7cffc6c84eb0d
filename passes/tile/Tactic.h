//===- Tactic.h - ways to turn a region into a kernel -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The tile phase chooses a tactic and its parameters for each `tw.fused`
// region and writes them into the region's attribute `tactic`; everything
// later (launch, kernel) follows from the region and that attribute. The
// interface stands here, codegen/families implements it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/TwOps.h"
#include "ir/twk/TwkOps.h"
#include "targets/TargetSpec.h"
#include "tilewright/Status.h"
#include <optional>

namespace tilewright {

/// The attribute of a region that a library computes where it is there; the
/// tactic's kernel does otherwise.
inline constexpr llvm::StringLiteral libraryAttr = "tw.library";

/// Why a tactic does not apply: a reason code (TWTnnn) and its text.
struct Refusal {
  std::string code;
  std::string text;
};

/// How the kernel of a region is launched.
struct Launch {
  llvm::SmallVector<tw::DimExpr> sizes; ///< the kernel's `sizes`, in order
  /// How many independent tasks there are; on a GPU the blocks of the grid.
  tw::DimExpr tasks;
  /// Scratch memory of each worker, on a GPU of the launch.
  tw::DimExpr workspaceBytes;
  int64_t grain = 1;   ///< fewest tasks that are worth a thread
  int64_t threads = 0; ///< GPU: threads of a block
  int64_t shared = 0;  ///< GPU: bytes of dynamic shared memory of a block
  /// Whether outputs may lie over operands that are read at the output's own
  /// coordinates alone: no element is computed twice (overlapping tiles do
  /// that), and none is written before its operands are read (partial sums
  /// kept in the output are).
  bool inPlace = false;
};

/// One schedule of one family.
class Tactic {
public:
  virtual ~Tactic() = default;

  /// \returns e.g. "contract.simd".
  virtual llvm::StringRef name() const = 0;

  /// \returns nullopt when the tactic can build `region` for `target`.
  virtual std::optional<Refusal> applicable(tw::FusedOp region,
                                            const TargetSpec &target) const = 0;

  /// \returns the tile parameters, with the entry `name`, for the region's
  /// attribute `tactic`. \pre applicable.
  virtual Result<mlir::DictionaryAttr>
  choose(tw::FusedOp region, const TargetSpec &target) const = 0;

  /// \returns how the region's kernel is launched. \pre the attribute `tactic`
  /// is what `choose` gave.
  virtual Result<Launch> launch(tw::FusedOp region) const = 0;

  /// Builds the kernel at the builder's insertion point. \pre as for `launch`.
  virtual Result<twk::KernelOp> build(tw::FusedOp region,
                                      const TargetSpec &target,
                                      llvm::StringRef kernelName,
                                      mlir::OpBuilder &builder) const = 0;
};

/// The tactics of all families.
class TacticRegistry {
public:
  virtual ~TacticRegistry() = default;

  /// \returns the tactics to try for a region on a target, best first; the last
  /// one is `reference`, which every legal region admits.
  virtual std::vector<const Tactic *>
  tacticsFor(tw::FusedOp region, const TargetSpec &target) const = 0;

  /// \returns the tactic that the region's attribute `tactic` names, or null.
  virtual const Tactic *find(tw::FusedOp region) const = 0;
};

} // namespace tilewright
