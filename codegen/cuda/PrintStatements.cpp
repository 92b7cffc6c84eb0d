//===- PrintStatements.cpp - declarations, stores, control flow -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/KernelPrinter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::cuda {

/// An expression longer than this gets a name.
constexpr size_t longestHeld = 72;

void KernelPrinter::block(Block &block) {
  for (Operation &op : block.without_terminator()) {
    operation(&op);
  }
}

void KernelPrinter::operation(Operation *op) {
  bool isUnused = llvm::all_of(op->getResults(),
                               [](Value result) { return result.use_empty(); });
  if ((op->getNumResults() > 0 && isUnused && isMemoryEffectFree(op)) ||
      isa<arith::ConstantOp>(op) || statement(op)) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (op->hasAttr(twk::nameAttr)) {
        std::string text = nameFor(constant.getResult());
        constants += "  constexpr " + typeName(constant.getType()) + " " +
                     text + " = " +
                     literal(cast<TypedAttr>(constant.getValue())).text + ";\n";
        name(constant.getResult(), text);
      }
    }
    return;
  }
  usedRead = false;
  if (std::optional<Expression> value = expression(op)) {
    value->readsMemory |= usedRead;
    define(op->getResult(0), *value);
    return;
  }
  fail(op);
}

/// True if the value is used once, in its own block, by an operation that
/// evaluates it once.
static bool isUsedHere(Value value) {
  if (!value.hasOneUse()) {
    return false;
  }
  Operation *user = *value.user_begin();
  if (user->getBlock() != value.getParentBlock()) {
    return false;
  }
  // The bound and the step of a loop are evaluated again and again.
  auto loop = dyn_cast<scf::ForOp>(user);
  return !loop || (loop.getUpperBound() != value && loop.getStep() != value);
}

void KernelPrinter::define(Value value, Expression expression) {
  Operation *op = value.getDefiningOp();
  bool isNamed = op->hasAttr(twk::nameAttr) ||
                 isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::ShuffleOp,
                     nvgpu::LdMatrixOp, vector::LoadOp>(op);
  if (!isNamed && isUsedHere(value) && expression.text.size() <= longestHeld) {
    held[value] = std::move(expression);
    return;
  }
  std::string text = nameFor(value);
  declare(value, expression, text);
}

void KernelPrinter::declare(Value value, const Expression &expression,
                            const std::string &text) {
  line("const " + typeName(value.getType()) + " " + text + " = " +
       (expression.unconverted.empty() ? expression.text
                                       : expression.unconverted) +
       ";");
  name(value, text);
}

void KernelPrinter::flushReads() {
  SmallVector<Value> reads;
  for (auto &[value, expression] : held) {
    if (expression.readsMemory) {
      reads.push_back(value);
    }
  }
  for (Value value : reads) {
    Expression expression = held[value];
    held.erase(value);
    declare(value, expression, nameFor(value));
  }
}

bool KernelPrinter::statement(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](memref::StoreOp store) {
        std::string value = use(store.getValue()).text;
        std::string target =
            element(store.getMemRef(), store.getIndices().front());
        flushReads();
        line(target + " = " + value + ";");
        return true;
      })
      .Case([&](vector::StoreOp store) {
        std::string value = use(store.getValueToStore()).text;
        VectorType type = store.getVectorType();
        int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
        if (bits == 64 || bits == 128) {
          std::string function = store.getMemRefType().getMemorySpace()
                                     ? "storeShared"
                                     : "storeGlobal";
          needs("Vec");
          needs(function);
          std::string base = use(store.getBase(), Additive);
          std::string at = use(store.getIndices().front(), Multiplicative);
          flushReads();
          line(function + "(" + base + " + " + at + ", " + value + ");");
          return true;
        }
        std::string target =
            vectorAt(store.getBase(), store.getIndices().front(),
                     store.getVectorType(), /*isConst=*/false);
        flushReads();
        line(target + " = " + value + ";");
        return true;
      })
      .Case([&](memref::AtomicRMWOp atomic) {
        if (atomic.getKind() != arith::AtomicRMWKind::maxs ||
            !atomic.getResult().use_empty()) {
          return false;
        }
        std::string target =
            element(atomic.getMemref(), atomic.getIndices().front());
        std::string value = use(atomic.getValue()).text;
        flushReads();
        line("atomicMax(&" + target + ", " + value + ");");
        return true;
      })
      .Case([&](gpu::BarrierOp) {
        flushReads();
        line("__syncthreads();");
        return true;
      })
      .Case<memref::ViewOp, memref::CastOp, memref::AllocaOp,
            gpu::DynamicSharedMemoryOp>([&](Operation *memory) {
        declareMemory(memory);
        return true;
      })
      .Case([&](scf::ForOp loop) {
        forLoop(loop);
        return true;
      })
      .Case([&](scf::IfOp branch) {
        ifBranch(branch);
        return true;
      })
      .Default([&](Operation *other) { return asyncCopy(other); });
}

void KernelPrinter::declareMemory(Operation *op) {
  Value result = op->getResult(0);
  Type element = cast<MemRefType>(result.getType()).getElementType();
  if (auto cast = dyn_cast<memref::CastOp>(op)) {
    name(result, use(cast.getSource()).text);
    return;
  }
  if (isa<gpu::DynamicSharedMemoryOp>(op)) {
    line("extern __shared__ __align__(128) i8 shared[];");
    name(result, "shared");
    return;
  }
  if (auto array = dyn_cast<memref::AllocaOp>(op)) {
    std::string text = nameFor(result);
    line(storageName(element) + " " + text + "[" +
         std::to_string(array.getType().getNumElements()) + "];");
    name(result, text);
    return;
  }
  auto view = mlir::cast<memref::ViewOp>(op);
  std::string text = nameFor(result);
  std::string start = use(view.getSource()).text;
  if (!isConstantIntValue(view.getByteShift(), 0)) {
    start += " + " + use(view.getByteShift(), Multiplicative);
  }
  std::string type = storageName(element) + " *";
  line(type + "const " + text + " = reinterpret_cast<" + type + ">(" + start +
       ");");
  name(result, text);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Writes what a terminator yields into variables. A value that another
/// variable's old one is part of is computed before any is written.
void KernelPrinter::assign(Operation *yield, ArrayRef<std::string> targets) {
  SmallVector<std::string> values;
  for (Value operand : yield->getOperands()) {
    values.push_back(use(operand).text);
  }
  flushReads();
  auto mentions = [](StringRef text, StringRef identifier) {
    for (size_t at = text.find(identifier); at != StringRef::npos;
         at = text.find(identifier, at + 1)) {
      auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
      size_t end = at + identifier.size();
      if ((at == 0 || !isPart(text[at - 1])) &&
          (end == text.size() || !isPart(text[end]))) {
        return true;
      }
    }
    return false;
  };
  for (size_t i = 1; i < values.size(); ++i) {
    bool isLate = false;
    for (size_t earlier = 0; earlier < i; ++earlier) {
      isLate |= values[earlier] != targets[earlier] &&
                mentions(values[i], targets[earlier]);
    }
    if (isLate) {
      std::string next = fresh("next");
      line("const " + typeName(yield->getOperand(i).getType()) + " " + next +
           " = " + values[i] + ";");
      values[i] = next;
    }
  }
  for (auto [target, value] : llvm::zip(targets, values)) {
    if (target != value) {
      line(target + " = " + value + ";");
    }
  }
}

void KernelPrinter::forLoop(scf::ForOp loop) {
  SmallVector<std::string> carried;
  for (auto [argument, initial] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs())) {
    std::string start = use(initial).text;
    std::string text = fresh("acc");
    line(typeName(argument.getType()) + " " + text + " = " + start + ";");
    name(argument, text);
    carried.push_back(text);
  }
  std::string from = use(loop.getLowerBound()).text;
  std::string to = use(loop.getUpperBound()).within(Additive);
  std::string step = use(loop.getStep()).text;
  flushReads();
  auto hint = loop->getAttrOfType<StringAttr>(twk::nameAttr);
  std::string text = fresh(hint ? hint.getValue() : StringRef("i"));
  name(loop.getInductionVar(), text);
  if (Attribute unroll = loop->getAttr(twk::unrollAttr)) {
    auto factor = dyn_cast<IntegerAttr>(unroll);
    if (factor && factor.getInt() == 1) {
      needs("opaque");
      to = "opaque(index(" + to + "))";
    }
    line("#pragma unroll" +
         (factor ? " " + std::to_string(factor.getInt()) : ""));
  }
  std::string advance = step == "1" ? "++" + text : text + " += " + step;
  line("for (" + typeName(loop.getInductionVar().getType()) + " " + text +
       " = " + from + "; " + text + " < " + to + "; " + advance + ") {");
  ++depth;
  block(*loop.getBody());
  assign(loop.getBody()->getTerminator(), carried);
  --depth;
  line("}");
  for (auto [result, variable] : llvm::zip(loop.getResults(), carried)) {
    name(result, variable);
  }
}

bool KernelPrinter::conditional(scf::IfOp branch) {
  if (branch.getNumResults() != 1) {
    return false;
  }
  auto isShort = [](Block &block) {
    return llvm::all_of(block.without_terminator(), [](Operation &op) {
      return op.getNumRegions() == 0 && op.getNumResults() == 1 &&
             (isMemoryEffectFree(&op) || isa<memref::LoadOp>(op)) &&
             !op.hasAttr(twk::nameAttr);
    });
  };
  if (!isShort(*branch.thenBlock()) || !isShort(*branch.elseBlock())) {
    return false;
  }
  // What cannot be held becomes a statement; then it is not an expression.
  std::string bodyBefore = body;
  auto namesBefore = names;
  auto heldBefore = held;
  auto countsBefore = counts;
  block(*branch.thenBlock());
  std::string yes = use(branch.thenYield().getOperand(0), LogicalOr);
  block(*branch.elseBlock());
  std::string no = use(branch.elseYield().getOperand(0), LogicalOr);
  if (body != bodyBefore || yes.size() + no.size() > longestHeld) {
    body = std::move(bodyBefore);
    names = std::move(namesBefore);
    held = std::move(heldBefore);
    counts = std::move(countsBefore);
    return false;
  }
  std::string condition = use(branch.getCondition(), LogicalOr);
  define(branch.getResult(0), {condition + " ? " + yes + " : " + no,
                               Conditional, /*readsMemory=*/true});
  return true;
}

void KernelPrinter::ifBranch(scf::IfOp branch) {
  if (conditional(branch)) {
    return;
  }
  std::string condition = use(branch.getCondition()).text;
  flushReads();
  SmallVector<std::string> results;
  for (Value result : branch.getResults()) {
    std::string text = nameFor(result);
    line(typeName(result.getType()) + " " + text + ";");
    results.push_back(text);
  }
  auto part = [&](Block &inner) {
    ++depth;
    block(inner);
    assign(inner.getTerminator(), results);
    --depth;
  };
  line("if (" + condition + ") {");
  part(*branch.thenBlock());
  if (branch.elseBlock()) {
    line("} else {");
    part(*branch.elseBlock());
  }
  line("}");
  for (auto [result, text] : llvm::zip(branch.getResults(), results)) {
    name(result, text);
  }
}

} // namespace tilewright::cuda
