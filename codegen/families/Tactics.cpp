//===- Tactics.cpp - the tactics of all families --------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/Tactics.h"
#include "codegen/families/Attention.h"
#include "codegen/families/Nest.h"
#include "codegen/families/NestSchedule.h"
#include "codegen/families/RowBlocks.h"
#include "codegen/families/Rows.h"
#include "codegen/families/Sequential.h"

using namespace mlir;
using namespace tilewright::families;

namespace tilewright {

namespace {

/// Plain loops over every form of region, floats accumulated in f64.
class Reference : public Tactic {
public:
  StringRef name() const override { return "reference"; }

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &) const override {
    Result<FusedRegion> region = analyseRegion(op);
    if (!region) {
      return Refusal{"TWT100", region.status().message()};
    }
    return std::nullopt;
  }

  Result<DictionaryAttr> choose(tw::FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    if (region->form == Form::Rows) {
      RowParameters parameters;
      parameters.wide = true;
      return parameters.toAttribute(op.getContext(), name());
    }
    if (region->form == Form::Attention) {
      return AttentionParameters().toAttribute(op.getContext(), name());
    }
    if (region->form == Form::RowBlocks) {
      return referenceRowBlocks(*region).toAttribute(op.getContext(), name());
    }
    return referenceNest(*region).toAttribute(op.getContext(), name());
  }

  Result<Launch> launch(tw::FusedOp op) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    switch (region->form) {
    case Form::Attention:
      return attentionLaunch(
          *region, AttentionParameters::fromAttribute(parametersOf(op)));
    case Form::Rows:
      return rowsLaunch(*region);
    case Form::RowBlocks:
      return rowBlocksLaunch(*region,
                             NestParameters::fromAttribute(parametersOf(op)));
    case Form::Scan:
    case Form::Scatter:
      return sequentialLaunch(*region);
    case Form::Pointwise:
    case Form::Reduce:
      break;
    }
    return nestLaunch(*region, NestParameters::fromAttribute(parametersOf(op)));
  }

  Result<twk::KernelOp> build(tw::FusedOp op, const TargetSpec &target,
                              StringRef kernelName,
                              OpBuilder &builder) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    switch (region->form) {
    case Form::Attention:
      return buildAttention(
          *region, AttentionParameters::fromAttribute(parametersOf(op)), target,
          kernelName, builder);
    case Form::Rows:
      return buildRows(*region, RowParameters::fromAttribute(parametersOf(op)),
                       target, kernelName, builder);
    case Form::RowBlocks:
      return buildRowBlocks(*region,
                            NestParameters::fromAttribute(parametersOf(op)),
                            target, kernelName, builder);
    case Form::Scan:
    case Form::Scatter:
      return buildSequential(*region, target, kernelName, builder);
    case Form::Pointwise:
    case Form::Reduce:
      break;
    }
    return buildNest(*region, NestParameters::fromAttribute(parametersOf(op)),
                     target, kernelName, builder);
  }

protected:
  static DictionaryAttr parametersOf(tw::FusedOp op) {
    return cast<DictionaryAttr>(*op.getTactic());
  }
};

/// Vectors and register tiles chosen by a cost model. The name says which of
/// the nest's shapes the model may choose among.
class SimdNest : public Reference {
public:
  SimdNest(StringRef tacticName, NestShape shape)
      : tacticName(tacticName), shape(shape) {}

  StringRef name() const override { return tacticName; }

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override {
    if (std::optional<Refusal> refusal = Reference::applicable(op, target)) {
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
class SimdRows : public Reference {
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
class SimdRowBlocks : public Reference {
public:
  StringRef name() const override { return "contract.rows"; }

  std::optional<Refusal> applicable(tw::FusedOp op,
                                    const TargetSpec &target) const override {
    if (std::optional<Refusal> refusal = Reference::applicable(op, target)) {
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
class SimdAttention : public Reference {
public:
  StringRef name() const override { return "attention.simd"; }

  Result<DictionaryAttr> choose(tw::FusedOp op,
                                const TargetSpec &target) const override {
    Result<FusedRegion> region = analyseRegion(op);
    TW_RETURN_IF_ERROR(region.status());
    return chooseAttention(*region, target)
        .toAttribute(op.getContext(), name());
  }
};

class Registry : public TacticRegistry {
public:
  std::vector<const Tactic *> tacticsFor(tw::FusedOp op) const override {
    Result<FusedRegion> region = analyseRegion(op);
    if (!region) {
      return {&reference};
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
    case Form::Scan:
    case Form::Scatter:
      break;
    }
    return {&reference};
  }

  const Tactic *find(tw::FusedOp op) const override {
    auto parameters =
        dyn_cast_or_null<DictionaryAttr>(op.getTactic().value_or(Attribute()));
    auto name =
        parameters ? parameters.getAs<StringAttr>("name") : StringAttr();
    const Tactic *all[] = {&reference,     &pointwise, &contract,  &reduceRows,
                           &reduceColumns, &rows,      &rowBlocks, &attention};
    for (const Tactic *tactic : all) {
      if (name && name.getValue() == tactic->name()) {
        return tactic;
      }
    }
    return nullptr;
  }

private:
  Reference reference;
  SimdNest pointwise{"pointwise.simd", NestShape::Pointwise};
  SimdNest contract{"contract.simd", NestShape::Contract};
  SimdNest reduceRows{"reduce.rows", NestShape::ReduceRows};
  SimdNest reduceColumns{"reduce.columns", NestShape::ReduceColumns};
  SimdRows rows;
  SimdRowBlocks rowBlocks;
  SimdAttention attention;
};

} // namespace

const TacticRegistry &familyTactics() {
  static const Registry registry;
  return registry;
}

} // namespace tilewright
