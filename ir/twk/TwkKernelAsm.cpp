//===- TwkKernelAsm.cpp - the textual form of twk.kernel ------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/twk/TwkOps.h"

using namespace mlir;

namespace tilewright::twk {

namespace {
/// Parses `keyword(%a: type, …)` and appends to `arguments`. When `count` is
/// set, exactly so many are expected.
ParseResult parseGroup(OpAsmParser &parser, StringRef keyword,
                       std::optional<size_t> count,
                       SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  if (parser.parseKeyword(keyword)) {
    return failure();
  }
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::Argument> group;
  if (parser.parseArgumentList(group, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true)) {
    return failure();
  }
  if (count && group.size() != *count) {
    return parser.emitError(location)
           << "expected " << *count << " argument" << (*count == 1 ? "" : "s")
           << " in '" << keyword << "', found " << group.size();
  }
  arguments.append(group.begin(), group.end());
  return success();
}

void printGroup(OpAsmPrinter &printer, StringRef keyword,
                ArrayRef<BlockArgument> arguments) {
  printer << keyword << '(';
  llvm::interleaveComma(arguments, printer, [&](BlockArgument argument) {
    printer.printRegionArgument(argument);
  });
  printer << ')';
}
} // namespace

// kernel ::= `twk.kernel` symbol model (`threads` `(` integer `)`)?
// `may_alias`?
//            groups (`attributes` attr-dict)? region
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes)) {
    return failure();
  }
  SMLoc location = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword)) {
    return failure();
  }
  std::optional<ExecutionModel> model = symbolizeExecutionModel(keyword);
  if (!model) {
    return parser.emitError(location) << "unknown execution model '" << keyword
                                      << "'; there are 'simd' and 'simt'";
  }
  result.addAttribute(getModelAttrName(result.name),
                      ExecutionModelAttr::get(parser.getContext(), *model));
  bool isSimt = *model == ExecutionModel::simt;
  if (isSimt) {
    int64_t threads;
    if (parser.parseKeyword("threads") || parser.parseLParen() ||
        parser.parseInteger(threads) || parser.parseRParen()) {
      return failure();
    }
    result.addAttribute(getThreadsAttrName(result.name),
                        parser.getBuilder().getI64IntegerAttr(threads));
  }
  if (succeeded(parser.parseOptionalKeyword("may_alias"))) {
    result.addAttribute(getMayAliasAttrName(result.name),
                        UnitAttr::get(parser.getContext()));
  }
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseGroup(parser, "buffers", std::nullopt, arguments) ||
      parseGroup(parser, "sizes", std::nullopt, arguments) ||
      parseGroup(parser, "tasks", isSimt ? 1 : 2, arguments) ||
      (!isSimt && parseGroup(parser, "worker", 1, arguments)) ||
      parseGroup(parser, "workspace", 1, arguments) ||
      parseGroup(parser, "status", 1, arguments) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes)) {
    return failure();
  }
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << ' ' << stringifyExecutionModel(getModel());
  if (getThreads()) {
    printer << " threads(" << *getThreads() << ')';
  }
  if (getMayAlias()) {
    printer << " may_alias";
  }
  printer.increaseIndent();
  printer.printNewline();
  printGroup(printer, "buffers", getBuffers());
  printer.printNewline();
  printGroup(printer, "sizes", getSizes());
  printer << ' ';
  if (isSimt()) {
    printGroup(printer, "tasks", {getBlocks()});
  } else {
    printGroup(printer, "tasks", {getBegin(), getEnd()});
    printer << ' ';
    printGroup(printer, "worker", {getWorker()});
  }
  printer.printNewline();
  printGroup(printer, "workspace", {getWorkspace()});
  printer << ' ';
  printGroup(printer, "status", {getStatus()});
  printer.decreaseIndent();
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getModelAttrName(),
                            getMayAliasAttrName(), getThreadsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

} // namespace tilewright::twk
