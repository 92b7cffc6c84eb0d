//===- PrintPlan.cpp - a plan as text -------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
//   main(%0: f32[N, 64] parameter) -> %4
//     launch tw_pointwise_relu_f32__avx2 (%0, %1) sizes [N*64] tasks 1
//       // relu1
//
//===----------------------------------------------------------------------===//

#include "passes/plan/PlanBuilder.h"
#include "runtime/exec/Expressions.h"
#include "tilewright/DType.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
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
      expression(buffer.bytes());
      os << " bytes, commands " << buffer.first() << " to " << buffer.last()
         << "\n";
    }
    for (auto [number, command] : llvm::enumerate(function.commands)) {
      os << "  " << number << ": ";
      body(command->body);
      for (const format::Bind &bind : command->binds) {
        os << " bind " << plan.symbols[bind.symbol()];
      }
      if (function.streams > 1) {
        stream(*command);
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

  void expression(uint32_t id) { os << expressionText(plan, id); }

  /// `%3: f32[N, 64] arena 0`.
  void typed(uint32_t id) {
    const format::ValueT &value = *plan.values[id];
    os << "%" << id << ": " << nameOf(static_cast<DType>(value.dtype)) << "[";
    list(value.dims, [&](uint32_t dim) { expression(dim); });
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

  /// ` on stream 1 after events 0, 2 records 3`.
  void stream(const format::CommandT &command) {
    os << " on stream " << command.stream;
    if (!command.waits.empty()) {
      os << " after events ";
      list(command.waits, [&](uint32_t event) { os << event; });
    }
    if (command.records >= 0) {
      os << " records " << command.records;
    }
  }

  /// ` or cublaslt Relu(1 args 0 1 + 2) sizes […]`: in place of the kernel.
  void product(const format::ProductT &product) {
    os << " or cublaslt " << format::EnumNameActivation(product.activation)
       << "(" << llvm::format("%g", double(product.alpha)) << " args "
       << product.a << (product.transposed_a ? "' " : " ") << product.b
       << (product.transposed_b ? "'" : "");
    if (product.c >= 0) {
      os << " + " << product.c;
    }
    if (product.bias >= 0) {
      os << " + " << product.bias;
    }
    os << ") sizes [";
    list(product.sizes, [&](uint32_t size) { expression(size); });
    os << "]";
  }

  void body(const format::CommandBodyUnion &body) {
    if (const auto *launch = body.AsLaunch()) {
      os << "launch " << plan.kernels[launch->kernel] << " ";
      values(launch->args);
      os << " sizes [";
      list(launch->sizes, [&](uint32_t size) { expression(size); });
      os << "] tasks ";
      expression(launch->tasks);
      if (launch->product) {
        product(*launch->product);
      }
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
      list(write->sizes, [&](uint32_t size) { expression(size); });
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
