//===- Tactics.cpp - the tactics of all families --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/Tactics.h"
#include "codegen/families/ReferenceTactic.h"
#include "codegen/families/SimtTactics.h"
#include "codegen/families/attention/Attention.h"
#include "codegen/families/nest/Nest.h"
#include "codegen/families/nest/NestSchedule.h"
#include "codegen/families/rows/RowBlocks.h"
#include "codegen/families/rows/Rows.h"
#include "codegen/families/sequential/Scatter.h"

using namespace mlir;
using namespace tilewright::families;

namespace tilewright {

namespace {

/// Vectors and register tiles chosen by a cost model. The name says which of
/// the nest's shapes the model may choose among.
class SimdNest : public ReferenceTactic {
public:
  SimdNest(StringRef tacticName, NestShape shape)
      : tacticName(tacticName), shape(shape) {}

  StringRef name() const override { return tacticName; }

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override {
    if (std::optional<Refusal> refusal =
            ReferenceTactic::applicable(op, target)) {
      return refusal;
    }
    return refuseNest(*analyseRegion(op), shape, target);
  }

  Result<DictionaryAttr> choose(tw::FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    std::optional<NestChoice> choice = chooseNest(*region, shape, target);
    if (!choice) {
      return Status(ErrorCode::Internal,
                    "no tile fits region '" + op.getSymName().str() + "'");
    }
    return choice->parameters.toAttribute(op.getContext(), name());
  }

private:
  StringRef tacticName;
  NestShape shape;
};

/// Row regions with vectors along the rows.
class SimdRows : public ReferenceTactic {
public:
  StringRef name() const override { return "rows.simd"; }

  Result<DictionaryAttr> choose(tw::FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    RowParameters parameters;
    parameters.width = rowWidth(*region, target);
    return parameters.toAttribute(op.getContext(), name());
  }
};

/// Blocks of rows: a register tile before, vectors along the rows behind.
class SimdRowBlocks : public ReferenceTactic {
public:
  StringRef name() const override { return "contract.rows"; }

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override {
    if (std::optional<Refusal> refusal =
            ReferenceTactic::applicable(op, target)) {
      return refusal;
    }
    RowBlockParts parts = partsOf(*analyseRegion(op));
    if (std::optional<Refusal> refusal =
            refuseNest(parts.nest, NestShape::Contract, target)) {
      return refusal;
    }
    return chooseNest(parts.nest, NestShape::Contract, target)
               ? std::nullopt
               : std::optional(Refusal{"TWT106", "a row has a single element"});
  }

  Result<DictionaryAttr> choose(tw::FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    std::optional<NestChoice> choice =
        chooseNest(partsOf(*region).nest, NestShape::Contract, target);
    if (!choice) {
      return Status(ErrorCode::Internal,
                    "no tile fits region '" + op.getSymName().str() + "'");
    }
    return choice->parameters.toAttribute(op.getContext(), name());
  }
};

/// Attention by blocks of keys.
class SimdAttention : public ReferenceTactic {
public:
  StringRef name() const override { return "attention.simd"; }

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    if (region && attentionOf(*region).isPart()) {
      return Refusal{"TWT131", "a part of attention's keys is for GPUs"};
    }
    return ReferenceTactic::applicable(op, target);
  }

  Result<DictionaryAttr> choose(tw::FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    return chooseAttention(*region, target)
        .toAttribute(op.getContext(), name());
  }
};

/// Scatters whose tasks share the axes on which updates cannot meet.
class SimdScatter : public ReferenceTactic {
public:
  StringRef name() const override { return "scatter.simd"; }

  Result<DictionaryAttr> choose(tw::FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    return chooseScatter(*region, target).toAttribute(op.getContext(), name());
  }
};

class Registry : public TacticRegistry {
public:
  std::vector<const Tactic *>
  tacticsFor(tw::FusedOp op, const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    if (!region) {
      return {&reference};
    }
    if (target.isGpu()) {
      std::vector<const Tactic *> tactics = simtTacticsFor(region->form);
      tactics.push_back(&reference);
      return tactics;
    }
    switch (region->form) {
    case Form::Pointwise:
      return {&pointwise, &reference};
    case Form::Reduce:
      return {&contract, &reduceRows, &reduceColumns, &reference};
    case Form::Attention:
      return {&attention, &reference};
    case Form::Rows:
      return {&rows, &reference};
    case Form::RowBlocks:
      return {&rowBlocks, &reference};
    case Form::Scatter:
      return {&scatter, &reference};
    case Form::Scan:
      break;
    }
    return {&reference};
  }

  const Tactic *find(tw::FusedOp op) const override {
    auto parameters =
        dyn_cast_or_null<DictionaryAttr>(op.getTactic().value_or(Attribute()));
    auto name =
        parameters ? parameters.getAs<StringAttr>("name") : StringAttr();
    std::vector<const Tactic *> all = allSimtTactics();
    all.insert(all.end(),
               {&reference, &pointwise, &contract, &reduceRows, &reduceColumns,
                &rows, &rowBlocks, &attention, &scatter});
    for (const Tactic *tactic : all) {
      if (name && name.getValue() == tactic->name()) {
        return tactic;
      }
    }
    return nullptr;
  }

private:
  ReferenceTactic reference;
  SimdNest pointwise{"pointwise.simd", NestShape::Pointwise};
  SimdNest contract{"contract.simd", NestShape::Contract};
  SimdNest reduceRows{"reduce.rows", NestShape::ReduceRows};
  SimdNest reduceColumns{"reduce.columns", NestShape::ReduceColumns};
  SimdRows rows;
  SimdRowBlocks rowBlocks;
  SimdAttention attention;
  SimdScatter scatter;
};

} // namespace

const TacticRegistry &familyTactics() {
  static const Registry registry;
  return registry;
}

} // namespace tilewright
