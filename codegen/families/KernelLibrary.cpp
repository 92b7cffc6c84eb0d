//===- KernelLibrary.cpp - the distinct kernels of a compile --------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/KernelLibrary.h"
#include "codegen/families/Region.h"
#include "codegen/families/emit/KernelFrame.h"
#include "ir/Slices.h"
#include "passes/tile/InPlace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace tilewright::families;

namespace tilewright {

/// The region without its name and locations. The root names of primitives
/// stay: they are part of the kernel's name.
static std::string structureOf(tw::FusedOp region) {
  tw::FusedOp copy = region.clone();
  copy.setSymName("region");
  copy->removeAttr(libraryAttr);
  for (unsigned i = 0; i < copy.getInputs().size(); ++i) {
    // Operands are names from outside; only their types matter.
    copy->setOperand(i, copy.getBody().getArgument(i));
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.useLocalScope().printGenericOpForm();
  copy->print(os, flags);
  copy->erase();
  // Where its operands and results lie is part of a kernel.
  auto addSlices = [&](ValueRange values) {
    for (Value value : values) {
      if (std::optional<tw::Slice> slice = tw::sliceOf(value)) {
        os << "slice " << slice->whole << slice->axis << " "
           << slice->offset.toString();
      }
      os << ";";
    }
  };
  addSlices(region.getInputs());
  addSlices(region.getResults());
  return text;
}

static std::string familyOf(const FusedRegion &region) {
  switch (region.form) {
  case Form::Pointwise:
    return "pointwise";
  case Form::Reduce:
    return llvm::all_of(region.getReduces(), productOfBody) ? "contract"
                                                            : "reduce";
  case Form::Attention:
    return "attention";
  case Form::Rows:
    return "rows";
  case Form::RowBlocks:
    return "contract_rows";
  case Form::Scan:
    return "scan";
  case Form::Scatter:
    return "scatter";
  }
  return "region";
}

static std::string rootOf(Operation *primitive) {
  if (auto root = primitive->getAttrOfType<StringAttr>("root");
      root && !root.empty()) {
    return root.str();
  }
  if (auto reduce = dyn_cast<tw::ReduceOp>(primitive)) {
    return stringifyFoldKind(reduce.getKind()).str();
  }
  return primitive->getName().stripDialect().str();
}

static ArrayRef<Operation *> rootsAfterFirst(const FusedRegion &region) {
  size_t count = region.form == Form::Reduce ? region.getReduces().size() : 1;
  return ArrayRef(region.primitives).slice(1, count - 1);
}

/// `f32`, or `f16_f32` for operands and result of different types.
static std::string typesOf(tw::FusedOp op) {
  std::string text;
  SmallVector<Type> seen;
  auto add = [&](Type tensor) {
    Type element = tw::elementTypeOf(tensor);
    if (llvm::is_contained(seen, element) || seen.size() == 3) {
      return;
    }
    seen.push_back(element);
    std::string name;
    llvm::raw_string_ostream(name) << element;
    text += (text.empty() ? "" : "_") + StringRef(name).lower();
  };
  llvm::for_each(op.getInputs().getTypes(), add);
  llvm::for_each(op.getResultTypes(), add);
  return text;
}

static std::string tileOf(tw::FusedOp op) {
  auto parameters =
      dyn_cast_or_null<DictionaryAttr>(op.getTactic().value_or(Attribute()));
  if (!parameters) {
    return "scalar";
  }
  std::string text;
  if (auto tile = parameters.getAs<DenseI64ArrayAttr>("tile")) {
    for (int64_t count : tile.asArrayRef()) {
      text += std::to_string(count) + "x";
    }
  }
  auto width = parameters.getAs<IntegerAttr>("width");
  if (!width && !text.empty()) {
    text.pop_back(); // a tile alone says it all
    return text;
  }
  return text + std::to_string(width ? width.getInt() : 1);
}

/// The roots of the reductions that come first, or of the first primitive.
static std::string rootsOf(const FusedRegion &region) {
  std::string roots = rootOf(region.primitives.front());
  for (Operation *primitive : rootsAfterFirst(region)) {
    roots += "_" + rootOf(primitive);
  }
  return roots;
}

/// What follows the roots: `none`, or the number of maps.
static std::string epilogueOf(const FusedRegion &region) {
  size_t maps = region.primitives.size() - 1 - rootsAfterFirst(region).size();
  return maps == 0 ? "none" : "maps" + std::to_string(maps);
}

/// Symbol characters only.
static std::string sanitised(std::string name) {
  for (char &c : name) {
    c = llvm::isAlnum(c) ? c : '_';
  }
  return name;
}

std::string KernelLibrary::nameOf(tw::FusedOp op) const {
  Result<FusedRegion> region = analyseRegion(op);
  std::string name = "tw_";
  if (region) {
    name += familyOf(*region) + "_" + rootsOf(*region) + "_" + typesOf(op) +
            "_" + tileOf(op) + "_" + epilogueOf(*region) + "_";
  }
  std::string hash =
      llvm::utohexstr(llvm::xxh3_64bits(structureOf(op)), /*LowerCase=*/true);
  return sanitised(name + hash + "__" + std::string(target.name));
}

/// Whether all indices of a kernel stay below 2^31: every tensor, every domain
/// and the workspace are so small, and no index comes from data of 64 bits.
static bool isSmall(tw::FusedOp op, const Launch &launch,
                    twk::KernelOp kernel) {
  constexpr int64_t most = 1 << 30; // a stride may go beyond
  auto fits = [&](ArrayRef<tw::DimExpr> dims) {
    int64_t count = 1;
    for (tw::DimExpr dim : dims) {
      std::optional<int64_t> size = dim.getConstant();
      if (!size || *size > most) {
        return false;
      }
      count *= std::max<int64_t>(*size, 1);
      if (count > most) {
        return false;
      }
    }
    return true;
  };
  auto tensorFits = [&](Value value) {
    std::optional<tw::Slice> slice = tw::sliceOf(value);
    return fits(tw::dimsOf(slice ? slice->whole : value.getType()));
  };
  // Sizes beyond those of tensors and domains are compared with indices.
  if (!fits(launch.sizes) || !fits({launch.workspaceBytes}) ||
      !llvm::all_of(op.getInputs(), tensorFits) ||
      !llvm::all_of(op.getResults(), tensorFits)) {
    return false;
  }
  for (Operation &inner : op.getBody().front()) {
    if (tw::isPrimitive(&inner)) {
      SmallVector<tw::DimExpr> domain = tw::domainOf(&inner);
      if (auto reduce = dyn_cast<tw::ReduceOp>(inner)) {
        llvm::append_range(domain, reduce.getExtents().getDims());
      }
      if (!fits(domain)) {
        return false;
      }
    }
  }
  WalkResult walk = kernel->walk([](Operation *cast) {
    bool isWide = isa<arith::IndexCastOp, arith::IndexCastUIOp>(cast) &&
                  cast->getOperand(0).getType().isInteger(64);
    return isWide ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !walk.wasInterrupted();
}

Result<std::string> KernelLibrary::add(tw::FusedOp op, ModuleOp kernels) {
  const Tactic *tactic = registry.find(op);
  if (!tactic) {
    return Status(ErrorCode::Internal, "region '" + op.getSymName().str() +
                                           "' has no tactic that exists");
  }
  std::string name = nameOf(op);
  if (built.contains(name)) {
    return name;
  }
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  Result<twk::KernelOp> kernel = tactic->build(op, target, name, builder);
  TW_RETURN_IF_ERROR(kernel.status());
  if (auto size = (*kernel)->getAttrOfType<StringAttr>(missingSizeName)) {
    std::string text = size.str();
    kernel->erase();
    return Status(ErrorCode::Internal, "kernel '" + name + "' needs the size " +
                                           text + ", which it does not get");
  }
  Result<Launch> launch = tactic->launch(op);
  TW_RETURN_IF_ERROR(launch.status());
  if (kernel->isSimt()) {
    (*kernel)->setAttr("tactic", *op.getTactic());
    if (isSmall(op, *launch, *kernel)) {
      (*kernel)->setAttr(twk::smallAttr, builder.getUnitAttr());
    }
  }
  kernel->setMayAlias(launch->inPlace && mayWriteInPlace(op));
  built[name] = true;
  return name;
}

} // namespace tilewright
