//===- ObjectCode.cpp - LLVM dialect to object code -----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/ObjectCode.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace tilewright {

namespace {
const char tripleName[] = "x86_64-unknown-linux-gnu";

Status internal(const Twine &message) {
  return Status(ErrorCode::Internal, message.str());
}

/// The passes that matter for loops which are vectorised and tiled already:
/// clean up the address arithmetic, hoist what is invariant, drop the rest.
/// Loops with a small constant trip count are unrolled.
const char optimisation[] = "function(sroa,early-cse<memssa>,simplifycfg,"
                            "instcombine<no-verify-fixpoint>,"
                            "loop-mssa(loop-rotate,licm),loop(indvars,loop-"
                            "deletion),sroa,"
                            "early-cse<memssa>,gvn,instcombine<no-verify-"
                            "fixpoint>,loop-mssa(licm),dse,adce,"
                            "simplifycfg)";

Status optimise(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  if (Error error = builder.parsePassPipeline(passes, optimisation)) {
    return internal("the optimisation pipeline is invalid: " +
                    llvm::toString(std::move(error)));
  }
  passes.run(module, modules);
  return Status::ok();
}

void setAttributes(Module &module, const TargetSpec &target) {
  for (Function &function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    function.addFnAttr("target-cpu", StringRef(target.llvmCpu));
    function.addFnAttr("target-features", StringRef(target.llvmFeatures));
    function.addFnAttr("prefer-vector-width",
                       std::to_string(8 * target.vectorBytes));
    // A copy loop stays a loop: there is no memcpy to call.
    function.addFnAttr("no-builtins");
    function.addFnAttr(Attribute::NoUnwind);
    // Only the internal function says that buffers do not overlap.
    function.addFnAttr(Attribute::NoInline);
  }
}

/// Appends what `machine` emits for `module` to `out`.
Status emit(Module &module, TargetMachine &machine, CodeGenFileType type,
            SmallVectorImpl<char> &out) {
  raw_svector_ostream stream(out);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    return internal("LLVM cannot emit this kind of file");
  }
  passes.run(module);
  return Status::ok();
}

Status checkImportsNothing(const SmallVectorImpl<char> &object) {
  MemoryBufferRef buffer(StringRef(object.data(), object.size()), "kernel");
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(buffer);
  if (!file) {
    return internal("the object is unreadable: " +
                    llvm::toString(file.takeError()));
  }
  std::string missing;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name) {
      consumeError(flags.takeError());
      consumeError(name.takeError());
      return internal("the object's symbol table is damaged");
    }
    if ((*flags & object::SymbolRef::SF_Undefined) && !name->empty()) {
      missing += (missing.empty() ? "" : ", ") + name->str();
    }
  }
  return missing.empty()
             ? Status::ok()
             : internal("the code calls what an image does not have: " +
                        missing);
}
} // namespace

Result<std::unique_ptr<TargetMachine>>
createTargetMachine(const TargetSpec &target) {
  static const bool initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialised;
  Triple triple(tripleName);
  std::string error;
  const Target *found = TargetRegistry::lookupTarget(triple, error);
  if (!found) {
    return internal("LLVM lacks the target x86-64: " + error);
  }
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  std::unique_ptr<TargetMachine> machine(found->createTargetMachine(
      triple, StringRef(target.llvmCpu), StringRef(target.llvmFeatures),
      options, Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Default));
  if (!machine) {
    return internal("LLVM cannot generate code for '" +
                    StringRef(target.llvmCpu) + "'");
  }
  return machine;
}

Result<ObjectCode> emitObjectCode(mlir::ModuleOp module,
                                  const TargetSpec &target,
                                  TargetMachine &machine, bool keepTexts) {
  LLVMContext context;
  std::unique_ptr<Module> code = mlir::translateModuleToLLVMIR(
      module, context, "kernel", /*disableVerification=*/true);
  if (!code) {
    return internal("the translation to LLVM IR failed");
  }
  std::string problems;
  raw_string_ostream stream(problems);
  if (verifyModule(*code, &stream)) {
    return internal("the LLVM IR is invalid: " + problems);
  }
  code->setDataLayout(machine.createDataLayout());
  code->setTargetTriple(machine.getTargetTriple());
  setAttributes(*code, target);
  TW_RETURN_IF_ERROR(optimise(*code, machine));

  ObjectCode result;
  if (keepTexts) {
    raw_string_ostream(result.llvmIr) << *code;
    SmallVector<char, 0> assembly;
    std::unique_ptr<Module> copy = CloneModule(*code);
    TW_RETURN_IF_ERROR(
        emit(*copy, machine, CodeGenFileType::AssemblyFile, assembly));
    result.assembly.assign(assembly.begin(), assembly.end());
  }
  TW_RETURN_IF_ERROR(
      emit(*code, machine, CodeGenFileType::ObjectFile, result.bytes));
  TW_RETURN_IF_ERROR(checkImportsNothing(result.bytes));
  return result;
}

} // namespace tilewright
