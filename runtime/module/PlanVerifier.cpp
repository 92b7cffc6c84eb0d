//===- PlanVerifier.cpp - plans that can be executed ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The checks that need no order: every number, index and enumerator is in its
// range, aliases end, functions form a tree. PlanFlow.cpp has the others.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/PlanVerifier.h"

#include "runtime/builtins/Builtins.h"
#include "tilewright/DType.h"

using namespace tilewright;

Status tilewright::planError(const std::string &what) {
  return Status(ErrorCode::ModuleDamaged,
                "the module's plan contradicts itself: " + what);
}

namespace {

// Deeper nesting of If and Loop than any model has; the executor recurses.
constexpr unsigned maxNesting = 64;
constexpr size_t maxRank = 64;

/// Whether an index is below a limit.
struct Below {
  size_t limit;
  bool operator()(uint32_t index) const { return index < limit; }
};

/// The same, or -1.
struct BelowOrNone {
  size_t limit;
  bool operator()(int32_t index) const {
    return index == -1 || (index >= 0 && static_cast<size_t>(index) < limit);
  }
};

class Ranges {
public:
  Ranges(VerifiedPlan &verified, const std::vector<uint64_t> &constantBytes)
      : verified(verified), plan(*verified.plan), constantBytes(constantBytes) {
  }

  Status check() {
    TW_RETURN_IF_ERROR(expressions());
    TW_RETURN_IF_ERROR(values());
    if (plan.functions.empty()) {
      return planError("it has no function");
    }
    callers.assign(plan.functions.size(), 0);
    for (const auto &function : plan.functions) {
      TW_RETURN_IF_ERROR(this->function(*function));
    }
    return nesting(0, 0);
  }

private:
  Status expressions() {
    for (size_t i = 0; i < plan.expressions.size(); ++i) {
      const format::Expr &expr = plan.expressions[i];
      bool isConstant = true;
      switch (expr.op()) {
      case format::ExprOp_Const:
        break;
      case format::ExprOp_Symbol:
        isConstant = false;
        if (expr.value() < 0 ||
            static_cast<uint64_t>(expr.value()) >= plan.symbols.size()) {
          return planError("an expression names a symbol that does not exist");
        }
        break;
      case format::ExprOp_Select:
        if (expr.c() >= i) {
          return planError("an expression comes before its operands");
        }
        isConstant = verified.isConstant[expr.c()];
        [[fallthrough]];
      default:
        if (expr.op() > format::ExprOp_MAX) {
          return planError("an expression has an unknown operation");
        }
        if (expr.a() >= i || expr.b() >= i) {
          return planError("an expression comes before its operands");
        }
        isConstant = isConstant && verified.isConstant[expr.a()] &&
                     verified.isConstant[expr.b()];
      }
      verified.isConstant.push_back(isConstant);
    }
    return Status::ok();
  }

  Status values() {
    for (const auto &entry : plan.values) {
      const format::ValueT &value = *entry;
      if (value.tag > format::ValueTag_MAX || value.dtype > format::DType_MAX ||
          value.storage > format::Storage_MAX) {
        return planError("a value has an unknown type or storage");
      }
      if (value.tag != format::ValueTag_Tensor ||
          value.dtype == format::DType_String) {
        return Status(ErrorCode::UnsupportedType,
                      "value '" + value.name +
                          "' is a sequence, an optional or a tensor of "
                          "strings, which this runtime does not run");
      }
      if (value.dims.size() > maxRank || !all(value.dims, isExpression())) {
        return planError("value '" + value.name + "' has an invalid shape");
      }
      if ((value.storage == format::Storage_Constant &&
           value.index >= constantBytes.size()) ||
          (value.storage == format::Storage_Alias &&
           value.index >= plan.values.size())) {
        return planError("value '" + value.name + "' is stored nowhere");
      }
    }
    return aliases();
  }

  Status aliases() {
    verified.root.resize(plan.values.size());
    for (uint32_t i = 0; i < plan.values.size(); ++i) {
      uint32_t root = i;
      size_t steps = 0;
      while (plan.values[root]->storage == format::Storage_Alias) {
        root = plan.values[root]->index;
        if (++steps > plan.values.size()) {
          return planError("value '" + plan.values[i]->name +
                           "' is an alias of itself");
        }
      }
      verified.root[i] = root;
    }
    return Status::ok();
  }

  Status function(const format::FunctionT &function) {
    bool good = all(function.parameters, isValue()) &&
                all(function.results, isValue()) && binds(function.binds) &&
                all(function.evaluate, isExpression());
    for (const format::Check &check : function.checks) {
      good = good && isAxis(check.value(), check.axis()) &&
             isExpression()(check.expr());
    }
    for (const format::Buffer &buffer : function.buffers) {
      good = good && isExpression()(buffer.bytes()) &&
             buffer.first() <= buffer.last();
    }
    if (!good) {
      return planError("function '" + function.name +
                       "' names something that does not exist");
    }
    for (const auto &command : function.commands) {
      TW_RETURN_IF_ERROR(this->command(*command));
    }
    return Status::ok();
  }

  Status command(const format::CommandT &command) {
    bool good = binds(command.binds) && all(command.evaluate, isExpression()) &&
                all(command.release, isValue()) &&
                all(command.nodes, Below{plan.nodes.size()});
    const format::CommandBodyUnion &body = command.body;
    if (const format::LaunchT *launch = body.AsLaunch()) {
      good =
          good && launch->kernel < plan.kernels.size() &&
          all(launch->args, isValue()) && all(launch->sizes, isExpression()) &&
          isExpression()(launch->tasks) && isExpression()(launch->workspace) &&
          (!launch->product || product(*launch, *launch->product));
    } else if (const format::BuiltinT *builtin = body.AsBuiltin()) {
      TW_RETURN_IF_ERROR(checkBuiltin(*builtin));
      good = good && all(builtin->inputs, isOptionalValue()) &&
             all(builtin->outputs, isOptionalValue()) &&
             all(builtin->defines, isSymbol());
    } else if (const format::CopyT *copy = body.AsCopy()) {
      good = good && isValue()(copy->from) && isValue()(copy->to);
    } else if (const format::ReadSizesT *read = body.AsReadSizes()) {
      good = good && isValue()(read->from) && all(read->symbols, isSymbol()) &&
             read->symbols.size() == read->elements.size() &&
             isInteger(dtype(read->from));
    } else if (const format::WriteSizesT *write = body.AsWriteSizes()) {
      good = good && isValue()(write->to) &&
             all(write->sizes, isExpression()) &&
             dtype(write->to) == DType::I64;
    } else if (const format::IfT *branch = body.AsIf()) {
      good = good && isValue()(branch->condition) &&
             dtype(branch->condition) == DType::Bool &&
             all(branch->outputs, isValue()) &&
             matches(branch->then, branch->outputs) &&
             matches(branch->otherwise, branch->outputs);
    } else if (const format::LoopT *loop = body.AsLoop()) {
      good = good && this->loop(*loop);
    } else {
      good = false;
    }
    return good ? Status::ok()
                : planError("a command names something that does not exist");
  }

  bool product(const format::LaunchT &launch, const format::ProductT &product) {
    // Batches, m, n, k, and two strides of each of four matrices.
    constexpr size_t sizes = 12;
    if (launch.results != 1 || launch.args.empty()) {
      return false;
    }
    size_t inputs = launch.args.size() - 1;
    Below isInput{inputs};
    BelowOrNone isOptionalInput{inputs};
    return isInput(product.a) && isInput(product.b) &&
           isOptionalInput(product.c) && isOptionalInput(product.bias) &&
           product.activation <= format::Activation_MAX &&
           product.sizes.size() == sizes && all(product.sizes, isExpression());
  }

  /// Whether function `index` can be a branch that gives `outputs`.
  bool matches(uint32_t index, const std::vector<uint32_t> &outputs) {
    if (!call(index)) {
      return false;
    }
    const format::FunctionT &function = *plan.functions[index];
    bool good = function.parameters.empty() &&
                function.results.size() == outputs.size();
    for (size_t i = 0; good && i < outputs.size(); ++i) {
      good = isValue()(function.results[i]) && isValue()(outputs[i]) &&
             sameKind(function.results[i], outputs[i]);
    }
    return good;
  }

  bool loop(const format::LoopT &loop) {
    if (!call(loop.body) || !isOptionalValue()(loop.trip_count) ||
        !isOptionalValue()(loop.condition) || !all(loop.carried, isValue()) ||
        !all(loop.outputs, isOptionalValue()) ||
        (loop.trips_symbol != -1 && !isSymbol()(loop.trips_symbol))) {
      return false;
    }
    const format::FunctionT &body = *plan.functions[loop.body];
    size_t carried = loop.carried.size();
    if (!all(body.parameters, isValue()) || !all(body.results, isValue()) ||
        body.parameters.size() != 2 + carried ||
        body.results.size() != 1 + loop.outputs.size() ||
        loop.outputs.size() < carried) {
      return false;
    }
    bool good = dtype(body.parameters[0]) == DType::I64 &&
                dtype(body.parameters[1]) == DType::Bool &&
                dtype(body.results[0]) == DType::Bool;
    good =
        good && (loop.trip_count < 0 || dtype(loop.trip_count) == DType::I64);
    good = good && (loop.condition < 0 || dtype(loop.condition) == DType::Bool);
    for (size_t i = 0; good && i < carried; ++i) {
      good = sameKind(body.parameters[2 + i], loop.carried[i]) &&
             sameKind(body.results[1 + i], loop.carried[i]);
    }
    for (size_t i = 0; good && i < loop.outputs.size(); ++i) {
      int32_t output = loop.outputs[i];
      size_t rank = plan.values[body.results[1 + i]]->dims.size();
      good = output < 0 ||
             (dtype(output) == dtype(body.results[1 + i]) &&
              plan.values[output]->dims.size() == rank + (i >= carried));
    }
    return good;
  }

  /// Notes a call. Each function is called from one place, so that functions
  /// form a tree and nothing recurses.
  bool call(uint32_t index) {
    return index != 0 && index < plan.functions.size() && ++callers[index] == 1;
  }

  Status nesting(uint32_t index, unsigned depth) {
    if (depth > maxNesting) {
      return planError("its functions are nested too deeply");
    }
    for (const auto &command : plan.functions[index]->commands) {
      if (const format::IfT *branch = command->body.AsIf()) {
        TW_RETURN_IF_ERROR(nesting(branch->then, depth + 1));
        TW_RETURN_IF_ERROR(nesting(branch->otherwise, depth + 1));
      } else if (const format::LoopT *loop = command->body.AsLoop()) {
        TW_RETURN_IF_ERROR(nesting(loop->body, depth + 1));
      }
    }
    return Status::ok();
  }

  template <typename List, typename Predicate>
  static bool all(const List &list, Predicate predicate) {
    for (const auto &item : list) {
      if (!predicate(item)) {
        return false;
      }
    }
    return true;
  }

  Below isValue() const { return {plan.values.size()}; }
  BelowOrNone isOptionalValue() const { return {plan.values.size()}; }
  Below isExpression() const { return {plan.expressions.size()}; }
  Below isSymbol() const { return {plan.symbols.size()}; }
  bool isAxis(uint32_t value, uint32_t axis) const {
    return isValue()(value) && axis < plan.values[value]->dims.size();
  }
  bool binds(const std::vector<format::Bind> &list) const {
    return all(list, [this](const format::Bind &bind) {
      return isAxis(bind.value(), bind.axis()) && isSymbol()(bind.symbol());
    });
  }
  /// Whether two values have the same element type and rank.
  bool sameKind(uint32_t a, uint32_t b) const {
    return dtype(a) == dtype(b) &&
           plan.values[a]->dims.size() == plan.values[b]->dims.size();
  }
  DType dtype(uint32_t value) const {
    return static_cast<DType>(plan.values[value]->dtype);
  }

  VerifiedPlan &verified;
  const format::PlanT &plan;
  const std::vector<uint64_t> &constantBytes;
  std::vector<unsigned> callers;
};

} // namespace

Result<VerifiedPlan>
tilewright::verifyPlan(std::unique_ptr<format::PlanT> plan,
                       const std::vector<uint64_t> &constantBytes) {
  if (!plan) {
    return planError("there is none");
  }
  VerifiedPlan verified;
  verified.plan = std::move(plan);
  TW_RETURN_IF_ERROR(Ranges(verified, constantBytes).check());
  TW_RETURN_IF_ERROR(verifyFlow(verified));
  return verified;
}
