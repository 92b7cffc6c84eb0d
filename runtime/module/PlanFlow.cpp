//===- PlanFlow.cpp - known before used -----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Follows the commands in the order of execution, into the functions that If
// and Loop call, and checks that symbols, expressions and values are known
// before they are used, that nothing is used after its release, and that a
// buffer is used within its life only. What a called function learns is
// forgotten after the call.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/PlanVerifier.h"

#include <algorithm>

using namespace tilewright;

namespace {

class Flow {
public:
  explicit Flow(VerifiedPlan &verified)
      : verified(verified), plan(*verified.plan),
        knownExpressions(verified.isConstant),
        knownSymbols(plan.symbols.size()), boundSymbols(plan.symbols.size()),
        live(plan.values.size()), position(plan.functions.size(), 0) {
    verified.definer.assign(plan.values.size(), noFunction);
  }

  Status function(uint32_t index) {
    const format::FunctionT &function = *plan.functions[index];
    current = index;
    TW_RETURN_IF_ERROR(entry(function));
    for (uint32_t i = 0; i < function.commands.size(); ++i) {
      position[index] = i;
      TW_RETURN_IF_ERROR(command(*function.commands[i]));
    }
    std::vector<uint32_t> taken;
    for (uint32_t result : function.results) {
      uint32_t root = verified.root[result];
      if (plan.values[root]->storage != format::Storage_Owned ||
          verified.definer[root] != index || !live[root] ||
          std::count(taken.begin(), taken.end(), root)) {
        return planError(describe(result) +
                         ", a result, is not an owned value of its function");
      }
      TW_RETURN_IF_ERROR(needDims(result));
      taken.push_back(root);
    }
    return Status::ok();
  }

private:
  Status entry(const format::FunctionT &function) {
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      uint32_t value = function.parameters[i];
      if (plan.values[value]->storage != format::Storage_Parameter ||
          plan.values[value]->index != i ||
          verified.definer[value] != noFunction) {
        return planError(describe(value) + " is not parameter " +
                         std::to_string(i));
      }
      verified.definer[value] = current;
      live[value] = true;
    }
    for (const format::Check &check : function.checks) {
      if (!isParameter(check.value())) {
        return planError(describe(check.value()) +
                         " is checked and is no parameter");
      }
    }
    TW_RETURN_IF_ERROR(learn(function.binds, function.evaluate));
    for (uint32_t value : function.parameters) {
      TW_RETURN_IF_ERROR(needDims(value));
    }
    for (const format::Check &check : function.checks) {
      TW_RETURN_IF_ERROR(need(check.expr()));
    }
    for (const format::Buffer &buffer : function.buffers) {
      TW_RETURN_IF_ERROR(need(buffer.bytes()));
    }
    return Status::ok();
  }

  bool isParameter(uint32_t value) const {
    return plan.values[value]->storage == format::Storage_Parameter &&
           verified.definer[value] == current;
  }

  Status command(const format::CommandT &command) {
    const format::CommandBodyUnion &body = command.body;
    std::vector<uint32_t> outputs; // that get their shapes from the command
    if (const format::LaunchT *launch = body.AsLaunch()) {
      for (uint32_t value : launch->args) {
        TW_RETURN_IF_ERROR(isLive(value) ? use(value) : define(value));
      }
      for (uint32_t expr : launch->sizes) {
        TW_RETURN_IF_ERROR(need(expr));
      }
      TW_RETURN_IF_ERROR(need(launch->tasks));
      TW_RETURN_IF_ERROR(need(launch->workspace));
      if (launch->product) {
        for (uint32_t expr : launch->product->sizes) {
          TW_RETURN_IF_ERROR(need(expr));
        }
      }
    } else if (const format::BuiltinT *builtin = body.AsBuiltin()) {
      for (int32_t value : builtin->inputs) {
        TW_RETURN_IF_ERROR(value < 0 ? Status::ok() : use(value));
      }
      if (!builtin->defines.empty()) {
        TW_RETURN_IF_ERROR(learnSymbols(builtin->defines));
        TW_RETURN_IF_ERROR(evaluate(command.evaluate));
      }
      for (int32_t value : builtin->outputs) {
        TW_RETURN_IF_ERROR(value < 0 ? Status::ok() : define(value));
      }
    } else if (const format::CopyT *copy = body.AsCopy()) {
      TW_RETURN_IF_ERROR(use(copy->from));
      TW_RETURN_IF_ERROR(define(copy->to));
    } else if (const format::ReadSizesT *read = body.AsReadSizes()) {
      TW_RETURN_IF_ERROR(use(read->from));
      TW_RETURN_IF_ERROR(learnSymbols(read->symbols));
    } else if (const format::WriteSizesT *write = body.AsWriteSizes()) {
      for (uint32_t expr : write->sizes) {
        TW_RETURN_IF_ERROR(need(expr));
      }
      TW_RETURN_IF_ERROR(define(write->to));
    } else if (const format::IfT *branch = body.AsIf()) {
      TW_RETURN_IF_ERROR(use(branch->condition));
      TW_RETURN_IF_ERROR(call(branch->then));
      TW_RETURN_IF_ERROR(call(branch->otherwise));
      outputs = branch->outputs;
    } else if (const format::LoopT *loop = body.AsLoop()) {
      for (int32_t value : {loop->trip_count, loop->condition}) {
        TW_RETURN_IF_ERROR(value < 0 ? Status::ok() : use(value));
      }
      for (uint32_t value : loop->carried) {
        TW_RETURN_IF_ERROR(use(value));
      }
      TW_RETURN_IF_ERROR(call(loop->body));
      if (loop->trips_symbol >= 0) {
        TW_RETURN_IF_ERROR(learnSymbols({uint32_t(loop->trips_symbol)}));
      }
      for (int32_t value : loop->outputs) {
        if (value >= 0) {
          outputs.push_back(static_cast<uint32_t>(value));
        }
      }
    }
    for (uint32_t value : outputs) {
      TW_RETURN_IF_ERROR(claim(value));
      if (plan.values[value]->storage != format::Storage_Owned) {
        return planError(describe(value) + " is a result of If or Loop and "
                                           "not owned");
      }
    }
    TW_RETURN_IF_ERROR(learn(command.binds, command.evaluate));
    for (uint32_t value : outputs) {
      TW_RETURN_IF_ERROR(needDims(value));
    }
    return release(command.release);
  }

  Status release(const std::vector<uint32_t> &values) {
    for (uint32_t value : values) {
      if (plan.values[value]->storage != format::Storage_Owned ||
          !live[value] || verified.definer[value] != current) {
        return planError(describe(value) + " is released and is not an owned "
                                           "value of its function");
      }
      live[value] = false;
    }
    return Status::ok();
  }

  /// Follows a called function and forgets what it has learnt.
  Status call(uint32_t index) {
    uint32_t caller = current;
    std::vector<bool> expressions = knownExpressions;
    std::vector<bool> symbols = knownSymbols;
    std::vector<bool> values = live;
    TW_RETURN_IF_ERROR(function(index));
    knownExpressions.swap(expressions);
    knownSymbols.swap(symbols);
    live.swap(values);
    current = caller;
    return Status::ok();
  }

  Status learn(const std::vector<format::Bind> &binds,
               const std::vector<uint32_t> &expressions) {
    for (const format::Bind &bind : binds) {
      if (!isLive(bind.value())) {
        return planError(describe(bind.value()) +
                         " gives a symbol and is not defined");
      }
      TW_RETURN_IF_ERROR(learnSymbols({bind.symbol()}));
    }
    return evaluate(expressions);
  }

  /// Each symbol gets its value in one place.
  Status learnSymbols(const std::vector<uint32_t> &symbols) {
    for (uint32_t symbol : symbols) {
      if (boundSymbols[symbol]) {
        return planError("symbol '" + plan.symbols[symbol] +
                         "' gets its value in two places");
      }
      boundSymbols[symbol] = true;
      knownSymbols[symbol] = true;
    }
    return Status::ok();
  }

  Status evaluate(const std::vector<uint32_t> &expressions) {
    for (uint32_t index : expressions) {
      const format::Expr &expr = plan.expressions[index];
      bool known = true;
      if (expr.op() == format::ExprOp_Symbol) {
        known = knownSymbols[static_cast<size_t>(expr.value())];
      } else if (expr.op() != format::ExprOp_Const) {
        known =
            knownExpressions[expr.a()] && knownExpressions[expr.b()] &&
            (expr.op() != format::ExprOp_Select || knownExpressions[expr.c()]);
      }
      if (!known) {
        return planError("expression " + std::to_string(index) +
                         " is evaluated before its operands are known");
      }
      knownExpressions[index] = true;
    }
    return Status::ok();
  }

  Status need(uint32_t expression) const {
    return knownExpressions[expression]
               ? Status::ok()
               : planError("expression " + std::to_string(expression) +
                           " is used before it is evaluated, in function '" +
                           plan.functions[current]->name + "'");
  }

  Status needDims(uint32_t value) const {
    for (uint32_t expr : plan.values[value]->dims) {
      if (!knownExpressions[expr]) {
        return planError("the shape of " + describe(value) +
                         " is used before it is known");
      }
    }
    return Status::ok();
  }

  bool isLive(uint32_t value) const {
    uint32_t root = verified.root[value];
    return plan.values[root]->storage == format::Storage_Constant || live[root];
  }

  Status use(uint32_t value) const {
    if (!isLive(value)) {
      return planError(describe(value) + " is used and not defined");
    }
    TW_RETURN_IF_ERROR(needDims(value));
    return withinLife(value);
  }

  /// Makes the current function the one that defines `value`.
  Status claim(uint32_t value) {
    uint32_t root = verified.root[value];
    const format::ValueT &storage = *plan.values[root];
    uint32_t &definer = verified.definer[root];
    if (storage.storage != format::Storage_Arena &&
        storage.storage != format::Storage_Owned) {
      return planError(describe(value) + " is written and is read-only");
    }
    if (definer != noFunction && definer != current) {
      return planError(describe(value) + " is written by two functions");
    }
    definer = current;
    if (storage.storage == format::Storage_Arena &&
        storage.index >= plan.functions[current]->buffers.size()) {
      return planError(describe(value) + " lies in a buffer that does not "
                                         "exist");
    }
    live[root] = true;
    return Status::ok();
  }

  Status define(uint32_t value) {
    TW_RETURN_IF_ERROR(claim(value));
    TW_RETURN_IF_ERROR(needDims(value));
    TW_RETURN_IF_ERROR(needDims(verified.root[value]));
    return withinLife(value);
  }

  Status withinLife(uint32_t value) const {
    const format::ValueT &root = *plan.values[verified.root[value]];
    if (root.storage != format::Storage_Arena) {
      return Status::ok();
    }
    uint32_t owner = verified.definer[verified.root[value]];
    const format::Buffer &buffer = plan.functions[owner]->buffers[root.index];
    if (position[owner] < buffer.first() || position[owner] > buffer.last()) {
      return planError(describe(value) + " is used by command " +
                       std::to_string(position[owner]) + " of function '" +
                       plan.functions[owner]->name +
                       "', outside the life of its buffer");
    }
    return Status::ok();
  }

  std::string describe(uint32_t value) const {
    return "value " + std::to_string(value) + " '" + plan.values[value]->name +
           "'";
  }

  VerifiedPlan &verified;
  const format::PlanT &plan;
  std::vector<bool> knownExpressions;
  std::vector<bool> knownSymbols;
  std::vector<bool> boundSymbols; // anywhere so far
  std::vector<bool> live;         // root values
  std::vector<uint32_t> position; // per function, of its current command
  uint32_t current = 0;
};

} // namespace

Status tilewright::verifyFlow(VerifiedPlan &verified) {
  return Flow(verified).function(0);
}
