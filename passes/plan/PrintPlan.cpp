//===- PrintPlan.cpp - a plan as text -------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
//   main(%0: f32[N, 64] parameter) -> %4
//     launch tw_pointwise_relu_f32__avx2 (%0, %1) sizes [N * 64] tasks 1   //
//     relu1
//
//===----------------------------------------------------------------------===//

#include "passes/plan/PlanBuilder.h"
#include "tilewright/DType.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using llvm::raw_ostream;

namespace tilewright::plan {

namespace {

class Printer {
public:
  Printer(const format::PlanT &plan, raw_ostream &os) : plan(plan), os(os) {}

  void function(const format::FunctionT &function) {
    os << function.name << "(";
    list(function.parameters, [&](uint32_t id) { typed(id); });
    os << ") -> (";
    list(function.results, [&](uint32_t id) { typed(id); });
    os << ")\n";
    for (auto [number, buffer] : llvm::enumerate(function.buffers)) {
      os << "  buffer " << number << ": ";
      expression(buffer.bytes(), false);
      os << " bytes, commands " << buffer.first() << " to " << buffer.last()
         << "\n";
    }
    for (auto [number, command] : llvm::enumerate(function.commands)) {
      os << "  " << number << ": ";
      body(command->body);
      for (const format::Bind &bind : command->binds) {
        os << " bind " << plan.symbols[bind.symbol()];
      }
      if (!command->release.empty()) {
        os << " release ";
        list(command->release, [&](uint32_t id) { os << "%" << id; });
      }
      if (!command->nodes.empty()) {
        os << "  // ";
        list(command->nodes, [&](uint32_t node) { os << plan.nodes[node]; });
      }
      os << "\n";
    }
  }

private:
  template <typename List, typename Each>
  void list(const List &items, Each each) {
    llvm::interleaveComma(items, os, each);
  }

  void expression(uint32_t id, bool parenthesize) {
    const format::Expr &expr = plan.expressions[id];
    auto infix = [&](llvm::StringRef sign) {
      os << (parenthesize ? "(" : "");
      expression(expr.a(), true);
      os << sign;
      expression(expr.b(), true);
      os << (parenthesize ? ")" : "");
    };
    auto call = [&](llvm::StringRef name, llvm::ArrayRef<uint32_t> operands) {
      os << name << "(";
      list(operands, [&](uint32_t operand) { expression(operand, false); });
      os << ")";
    };
    switch (expr.op()) {
    case format::ExprOp_Const:
      os << expr.value();
      break;
    case format::ExprOp_Symbol:
      os << plan.symbols[expr.value()];
      break;
    case format::ExprOp_Add:
      return infix(" + ");
    case format::ExprOp_Sub:
      return infix(" - ");
    case format::ExprOp_Mul:
      return infix(" * ");
    case format::ExprOp_FloorDiv:
      return infix(" floordiv ");
    case format::ExprOp_CeilDiv:
      return infix(" ceildiv ");
    case format::ExprOp_Mod:
      return infix(" mod ");
    case format::ExprOp_Min:
      return call("min", {expr.a(), expr.b()});
    case format::ExprOp_Max:
      return call("max", {expr.a(), expr.b()});
    case format::ExprOp_Select:
      return call("select", {expr.a(), expr.b(), expr.c()});
    }
  }

  /// `%3: f32[N, 64] arena 0`.
  void typed(uint32_t id) {
    const format::ValueT &value = *plan.values[id];
    os << "%" << id << ": " << nameOf(static_cast<DType>(value.dtype)) << "[";
    list(value.dims, [&](uint32_t dim) { expression(dim, false); });
    os << "]";
    std::string storage = format::EnumNameStorage(value.storage);
    os << " " << llvm::StringRef(storage).lower();
    if (value.storage == format::Storage_Alias) {
      os << " of %" << value.index;
    } else if (value.storage == format::Storage_Arena ||
               value.storage == format::Storage_Constant) {
      os << " " << value.index;
    }
  }

  template <typename Ids> void values(const Ids &ids) {
    os << "(";
    list(ids, [&](auto id) {
      if (static_cast<int64_t>(id) == -1) {
        os << "none";
      } else {
        typed(id);
      }
    });
    os << ")";
  }

  void body(const format::CommandBodyUnion &body) {
    if (const auto *launch = body.AsLaunch()) {
      os << "launch " << plan.kernels[launch->kernel] << " ";
      values(launch->args);
      os << " sizes [";
      list(launch->sizes, [&](uint32_t size) { expression(size, false); });
      os << "] tasks ";
      expression(launch->tasks, false);
    } else if (const auto *builtin = body.AsBuiltin()) {
      os << "builtin " << builtin->name << " ";
      values(builtin->inputs);
      os << " -> ";
      values(builtin->outputs);
    } else if (const auto *copy = body.AsCopy()) {
      os << "copy ";
      values(llvm::ArrayRef<uint32_t>{copy->from, copy->to});
    } else if (const auto *read = body.AsReadSizes()) {
      os << "read_sizes %" << read->from << " -> ";
      list(read->symbols, [&](uint32_t symbol) { os << plan.symbols[symbol]; });
    } else if (const auto *write = body.AsWriteSizes()) {
      os << "write_sizes ";
      values(llvm::ArrayRef<uint32_t>{write->to});
      os << " = [";
      list(write->sizes, [&](uint32_t size) { expression(size, false); });
      os << "]";
    } else if (const auto *branch = body.AsIf()) {
      os << "if %" << branch->condition << " function " << branch->then
         << " else function " << branch->otherwise << " -> ";
      values(branch->outputs);
    } else if (const auto *loop = body.AsLoop()) {
      os << "loop function " << loop->body << " ";
      values(loop->carried);
      os << " -> ";
      values(loop->outputs);
    }
  }

  const format::PlanT &plan;
  raw_ostream &os;
};

} // namespace

void printPlan(const format::PlanT &plan, raw_ostream &os) {
  Printer printer(plan, os);
  for (auto [number, function] : llvm::enumerate(plan.functions)) {
    os << number << " ";
    printer.function(*function);
  }
}

} // namespace tilewright::plan
