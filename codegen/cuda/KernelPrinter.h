//===- KernelPrinter.h - one kernel as CUDA C++ -----------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Private to the Print*.cpp files. Statements are printed as they come. The
// result of an operation is held back as an expression when it is used once, in
// the same block; what reads memory is given a name before anything writes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "codegen/cuda/Expression.h"
#include "codegen/cuda/PrintCuda.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace tilewright::cuda {

class KernelPrinter {
public:
  explicit KernelPrinter(twk::KernelOp kernel) : kernel(kernel) {}

  Result<CudaSource> run();

private:
  //===--- Statements (PrintStatements.cpp) -------------------------------===//
  void block(mlir::Block &block);
  void operation(mlir::Operation *op);
  /// \returns true if `op` was a statement.
  bool statement(mlir::Operation *op);
  void forLoop(mlir::scf::ForOp op);
  void ifBranch(mlir::scf::IfOp op);
  /// \returns true if `op` was printed as `condition ? x : y`.
  bool conditional(mlir::scf::IfOp op);
  void assign(mlir::Operation *yield, llvm::ArrayRef<std::string> names);
  void declareMemory(mlir::Operation *op);
  /// \returns true if `op` was an asynchronous copy, or waits for some
  /// (PrintMatrix.cpp).
  bool asyncCopy(mlir::Operation *op);
  /// Gives names to held expressions that read memory.
  void flushReads();

  //===--- Expressions (PrintExpressions.cpp, PrintArithmetic.cpp) --------===//
  /// \returns the expression of an operation with one result, or nothing when
  /// it is not one.
  std::optional<Expression> expression(mlir::Operation *op);
  std::optional<Expression> memoryAccess(mlir::Operation *op);
  std::optional<Expression> matrix(mlir::Operation *op); // PrintMatrix.cpp
  std::optional<Expression> integerArithmetic(mlir::Operation *op);
  std::optional<Expression> floatArithmetic(mlir::Operation *op);
  std::optional<Expression> conversion(mlir::Operation *op);
  std::optional<Expression> comparison(mlir::Operation *op);
  std::optional<Expression> mathFunction(mlir::Operation *op);

  Expression binary(mlir::Operation *op, const char *symbol,
                    Precedence precedence);
  /// Integers that wrap: computed without signs, and turned back.
  Expression wrapping(mlir::Operation *op, const char *symbol,
                      Precedence precedence);
  Expression call(llvm::StringRef function,
                  llvm::ArrayRef<mlir::Value> operands,
                  bool isUnsigned = false);
  /// A function of f32 called `name` + "f", of f64 `name`.
  Expression floatCall(mlir::Operation *op, llvm::StringRef name);
  /// An operand as a float to compute with: small floats are extended.
  Expression asFloat(mlir::Value value);
  /// Rounds back to a small float if `type` is one.
  Expression rounded(Expression value, mlir::Type type);
  Expression asUnsigned(mlir::Value value);
  std::string element(mlir::Value memory, mlir::Value index);
  std::string vectorAt(mlir::Value memory, mlir::Value index,
                       mlir::VectorType type, bool isConst);

  //===--- Names ----------------------------------------------------------===//
  /// \returns what to write for a value, which is then no longer held.
  Expression use(mlir::Value value, bool isArgument = false);
  std::string use(mlir::Value value, Precedence most) {
    return use(value).within(most);
  }
  std::string fresh(llvm::StringRef base);
  std::string nameFor(mlir::Value value);
  /// Holds an expression back, or declares it.
  void define(mlir::Value value, Expression expression);
  void declare(mlir::Value value, const Expression &expression,
               const std::string &text);
  void name(mlir::Value value, std::string text) {
    names[value] = std::move(text);
  }
  void needs(llvm::StringRef function) { functions.insert(function); }

  void line(const llvm::Twine &text);
  void fail(mlir::Operation *op);

  std::string signature();
  std::string comment();
  bool isWritten(mlir::Value buffer);

  twk::KernelOp kernel;
  std::string body;
  std::string constants; ///< constexpr, at the top of the kernel
  unsigned depth = 1;
  bool usedRead = false; ///< `use` has handed out what reads memory
  Status status;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::MapVector<mlir::Value, Expression> held;
  llvm::StringMap<unsigned> counts;
  llvm::StringSet<> functions;
};

} // namespace tilewright::cuda
