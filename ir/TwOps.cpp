//===- TwOps.cpp - building, text, checks and folds of operations ---------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "ir/TwOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tilewright::tw {

//===----------------------------------------------------------------------===//
// Shared by the primitives
//===----------------------------------------------------------------------===//

bool isPrimitive(Operation *op) {
  return isa<MapOp, ReduceOp, ScanOp, ScatterOp>(op);
}

SmallVector<DimExpr> domainOf(Operation *op) {
  if (auto map = dyn_cast<MapOp>(op)) {
    return map.getDomain();
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    return reduce.getDomain();
  }
  if (auto scan = dyn_cast<ScanOp>(op)) {
    return scan.getDomain();
  }
  return cast<ScatterOp>(op).getDomain();
}

YieldOp yieldOf(Operation *op) {
  return cast<YieldOp>(op->getRegion(0).front().getTerminator());
}

/// Adds a body with one index argument per axis of the domain.
static void addBody(OpBuilder &builder, OperationState &state, unsigned rank) {
  OpBuilder::InsertionGuard guard(builder);
  Region *region = state.addRegion();
  Block *block = builder.createBlock(region);
  for (unsigned i = 0; i < rank; ++i) {
    block->addArgument(builder.getIndexType(), state.location);
  }
}

static unsigned rankOf(Type type) {
  return cast<RankedTensorType>(type).getRank();
}

/// Names coordinates i, j, k, … and those of a reduction r, s, t, ….
static void nameCoordinates(Region &region, unsigned parallel,
                            OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral letters = "ijklmnop";
  static constexpr StringLiteral reductionLetters = "rstuvwxyz";
  for (BlockArgument argument : region.getArguments()) {
    unsigned number = argument.getArgNumber();
    bool isReduction = number >= parallel;
    StringRef from = isReduction ? reductionLetters : letters;
    unsigned position = isReduction ? number - parallel : number;
    setName(argument, position < from.size()
                          ? from.substr(position, 1)
                          : StringRef(isReduction ? "r" : "i"));
  }
}

/// `(%i, %j)`, all of type index.
static ParseResult
parseCoordinates(OpAsmParser &parser,
                 SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        OpAsmParser::Argument argument;
        argument.type = parser.getBuilder().getIndexType();
        if (parser.parseArgument(argument)) {
          return failure();
        }
        arguments.push_back(argument);
        return success();
      });
}

static void printCoordinates(OpAsmPrinter &printer, ValueRange coordinates) {
  printer << "(";
  printer.printOperands(coordinates);
  printer << ")";
}

/// `attributes {…} { body } : type, …`; without the word, a body would be taken
/// for attributes.
static ParseResult parseRest(OpAsmParser &parser, OperationState &result,
                             ArrayRef<OpAsmParser::Argument> arguments) {
  SmallVector<Type> types;
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments) ||
      parser.parseColonTypeList(types)) {
    return failure();
  }
  result.addTypes(types);
  return success();
}

static void printRest(OpAsmPrinter &printer, Operation *op,
                      ArrayRef<StringRef> elided) {
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << " ";
  printer.printRegion(op->getRegion(0), /*printEntryBlockArgs=*/false);
  printer << " : ";
  llvm::interleaveComma(op->getResultTypes(), printer);
}

static ParseResult parseFoldKind(OpAsmParser &parser, OperationState &result) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word)) {
    return failure();
  }
  std::optional<FoldKind> kind = symbolizeFoldKind(word);
  if (!kind) {
    return parser.emitError(loc) << "unknown fold '" << word << "'";
  }
  result.addAttribute("kind", FoldKindAttr::get(parser.getContext(), *kind));
  return success();
}

/// `[64, N]` as a DimsAttr.
static ParseResult parseExtents(OpAsmParser &parser, OperationState &result) {
  DimsAttr extents;
  if (parser.parseCustomAttributeWithFallback(extents)) {
    return failure();
  }
  result.addAttribute("extents", extents);
  return success();
}

static LogicalResult verifyBody(Operation *op, unsigned rank,
                                TypeRange yielded) {
  Block &block = op->getRegion(0).front();
  if (block.getNumArguments() != rank) {
    return op->emitOpError() << "needs " << rank << " coordinates, found "
                             << block.getNumArguments();
  }
  if (!llvm::all_of(block.getArgumentTypes(),
                    [](Type t) { return t.isIndex(); })) {
    return op->emitOpError("has a coordinate that is not an index");
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield) {
    return op->emitOpError("must end its body with tw.yield");
  }
  if (TypeRange(yield.getOperandTypes()) != yielded) {
    InFlightDiagnostic diagnostic = yield.emitOpError("must give ");
    llvm::interleaveComma(yielded, diagnostic);
    diagnostic << " to '" << op->getName() << "', found ";
    llvm::interleaveComma(yield.getOperandTypes(), diagnostic);
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// MapOp
//===----------------------------------------------------------------------===//

void MapOp::build(OpBuilder &builder, OperationState &state, TypeRange types) {
  state.addTypes(types);
  addBody(builder, state, rankOf(types.front()));
}

SmallVector<DimExpr> MapOp::getDomain() {
  return dimsOf(getResult(0).getType());
}

void MapOp::getAsmBlockArgumentNames(Region &region,
                                     OpAsmSetValueNameFn setName) {
  nameCoordinates(region, region.getNumArguments(), setName);
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parseCoordinates(parser, arguments) ||
                 parseRest(parser, result, arguments));
}

void MapOp::print(OpAsmPrinter &printer) {
  printCoordinates(printer, getBody().getArguments());
  printRest(printer, *this, {});
}

LogicalResult MapOp::verify() {
  if (getNumResults() == 0) {
    return emitOpError("needs at least one result");
  }
  SmallVector<Type> yielded;
  SmallVector<DimExpr> domain = getDomain();
  for (Type type : getResultTypes()) {
    if (dimsOf(type) != domain) {
      return emitOpError("has results of different dims");
    }
    yielded.push_back(scalarType(elementTypeOf(type)));
  }
  return verifyBody(*this, domain.size(), yielded);
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

void ReduceOp::build(OpBuilder &builder, OperationState &state, Type type,
                     FoldKind kind, ArrayRef<DimExpr> extents) {
  state.addTypes(type);
  state.addAttribute("kind", FoldKindAttr::get(builder.getContext(), kind));
  state.addAttribute("extents", DimsAttr::get(builder.getContext(), extents));
  addBody(builder, state, rankOf(type) + extents.size());
}

unsigned ReduceOp::getParallelRank() { return rankOf(getType()); }

SmallVector<DimExpr> ReduceOp::getDomain() {
  SmallVector<DimExpr> domain = dimsOf(getType());
  llvm::append_range(domain, getExtents().getDims());
  return domain;
}

void ReduceOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  nameCoordinates(region, getParallelRank(), setName);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(
      parseFoldKind(parser, result) || parseCoordinates(parser, arguments) ||
      parser.parseKeyword("over") || parseCoordinates(parser, arguments) ||
      parser.parseKeyword("in") || parseExtents(parser, result) ||
      parseRest(parser, result, arguments));
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyFoldKind(getKind()) << " ";
  ValueRange coordinates = getBody().getArguments();
  printCoordinates(printer, coordinates.take_front(getParallelRank()));
  printer << " over ";
  printCoordinates(printer, coordinates.drop_front(getParallelRank()));
  printer << " in ";
  printer.printStrippedAttrOrType(getExtents());
  printRest(printer, *this, {"kind", "extents"});
}

LogicalResult ReduceOp::verify() {
  if (getKind() == FoldKind::Assign) {
    return emitOpError("cannot fold by 'assign'");
  }
  Type element = elementTypeOf(getType());
  if (isArg()) {
    if (!element.isInteger(64)) {
      return emitOpError("gives positions as i64, found ") << element;
    }
    YieldOp yield = yieldOf(*this);
    return verifyBody(*this, getDomain().size(), yield.getOperandTypes());
  }
  return verifyBody(*this, getDomain().size(), scalarType(element));
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

void ScanOp::build(OpBuilder &builder, OperationState &state, Type type,
                   FoldKind kind, int64_t axis, bool exclusive, bool reverse) {
  state.addTypes(type);
  state.addAttribute("kind", FoldKindAttr::get(builder.getContext(), kind));
  state.addAttribute("axis", builder.getI64IntegerAttr(axis));
  if (exclusive) {
    state.addAttribute("exclusive", builder.getUnitAttr());
  }
  if (reverse) {
    state.addAttribute("reverse", builder.getUnitAttr());
  }
  addBody(builder, state, rankOf(type));
}

SmallVector<DimExpr> ScanOp::getDomain() { return dimsOf(getType()); }

void ScanOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  nameCoordinates(region, region.getNumArguments(), setName);
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parseFoldKind(parser, result) ||
                 parseCoordinates(parser, arguments) ||
                 parseRest(parser, result, arguments));
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyFoldKind(getKind()) << " ";
  printCoordinates(printer, getBody().getArguments());
  printRest(printer, *this, {"kind"});
}

LogicalResult ScanOp::verify() {
  int64_t rank = rankOf(getType());
  if (getAxis() < 0 || getAxis() >= rank) {
    return emitOpError("has axis ")
           << getAxis() << ", outside [0, " << rank << ")";
  }
  if (getKind() > FoldKind::Or) {
    return emitOpError("cannot scan by '")
           << stringifyFoldKind(getKind()) << "'";
  }
  return verifyBody(*this, rank, scalarType(elementTypeOf(getType())));
}

//===----------------------------------------------------------------------===//
// ScatterOp
//===----------------------------------------------------------------------===//

void ScatterOp::build(OpBuilder &builder, OperationState &state, Value init,
                      FoldKind kind, ArrayRef<DimExpr> extents) {
  state.addOperands(init);
  state.addTypes(init.getType());
  state.addAttribute("kind", FoldKindAttr::get(builder.getContext(), kind));
  state.addAttribute("extents", DimsAttr::get(builder.getContext(), extents));
  addBody(builder, state, extents.size());
}

SmallVector<DimExpr> ScatterOp::getDomain() { return getExtents().getDims(); }

void ScatterOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  nameCoordinates(region, region.getNumArguments(), setName);
}

ParseResult ScatterOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  OpAsmParser::UnresolvedOperand init;
  if (parseFoldKind(parser, result) || parser.parseOperand(init) ||
      parser.parseKeyword("at") || parseCoordinates(parser, arguments) ||
      parser.parseKeyword("in") || parseExtents(parser, result) ||
      parseRest(parser, result, arguments)) {
    return failure();
  }
  if (result.types.size() != 1) {
    return parser.emitError(parser.getNameLoc(), "tw.scatter has one result");
  }
  return parser.resolveOperand(init, result.types.front(), result.operands);
}

void ScatterOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyFoldKind(getKind()) << " " << getInit() << " at ";
  printCoordinates(printer, getBody().getArguments());
  printer << " in ";
  printer.printStrippedAttrOrType(getExtents());
  printRest(printer, *this, {"kind", "extents"});
}

LogicalResult ScatterOp::verify() {
  if (getInit().getType() != getType()) {
    return emitOpError("must give the type of the tensor that it starts from");
  }
  SmallVector<Type> yielded(rankOf(getType()), IndexType::get(getContext()));
  yielded.push_back(scalarType(elementTypeOf(getType())));
  return verifyBody(*this, getDomain().size(), yielded);
}

//===----------------------------------------------------------------------===//
// Inside bodies
//===----------------------------------------------------------------------===//

void LoadOp::build(OpBuilder &builder, OperationState &state, Value source,
                   ValueRange indices) {
  build(builder, state, scalarType(elementTypeOf(source.getType())), source,
        indices, Value(), Value());
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value source,
                   ValueRange indices, Value guard, Value otherwise) {
  build(builder, state, scalarType(elementTypeOf(source.getType())), source,
        indices, guard, otherwise);
}

LogicalResult LoadOp::verify() {
  int64_t rank = rankOf(getSource().getType());
  if (static_cast<int64_t>(getIndices().size()) != rank) {
    return emitOpError("needs ")
           << rank << " coordinates, found " << getIndices().size();
  }
  Type scalar = scalarType(elementTypeOf(getSource().getType()));
  if (getType() != scalar) {
    return emitOpError("gives ") << scalar << ", found " << getType();
  }
  if (static_cast<bool>(getGuard()) != static_cast<bool>(getOtherwise())) {
    return emitOpError("needs both a guard and a value for where it is false");
  }
  if (getOtherwise() && getOtherwise().getType() != scalar) {
    return emitOpError("has an alternative of type ")
           << getOtherwise().getType();
  }
  return success();
}

OpFoldResult SizeOp::fold(FoldAdaptor) {
  if (std::optional<int64_t> value = DimExpr(getSize()).getConstant()) {
    return IntegerAttr::get(IndexType::get(getContext()), *value);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Tensors without computation
//===----------------------------------------------------------------------===//

/// `tensor<2xf32> = dense<[1.0, 2.0]>`: the type is written once.
static ParseResult parseConstantValue(OpAsmParser &parser, Type &type,
                                      Attribute &value) {
  return failure(parser.parseType(type) || parser.parseEqual() ||
                 parser.parseAttribute(value, type));
}

static void printConstantValue(OpAsmPrinter &printer, Operation *, Type type,
                               Attribute value) {
  printer << type << " = ";
  printer.printAttributeWithoutType(value);
}

LogicalResult ConstantOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape()) {
    return emitOpError("needs a static shape");
  }
  if (isa<BlobAttr>(getValue())) {
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(getValue());
  if (!dense) {
    return emitOpError("needs dense<…> or #tw.blob<…>");
  }
  if (dense.getType().getShape() != type.getShape() ||
      dense.getElementType() != type.getElementType()) {
    return emitOpError("has elements of type ") << dense.getType();
  }
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getSource().getType());
  auto to = cast<RankedTensorType>(getType());
  if (from.getElementType() != to.getElementType()) {
    return emitOpError("cannot change the element type");
  }
  if (from.hasStaticShape() && to.hasStaticShape() &&
      from.getNumElements() != to.getNumElements()) {
    return emitOpError("has ") << from.getNumElements() << " elements in and "
                               << to.getNumElements() << " out";
  }
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType()) {
    return getSource();
  }
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addDefinitionEffect(std::optional<ArrayAttr> defines,
                                Effects &effects) {
  if (defines && !defines->empty()) {
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

void IfOp::getEffects(Effects &effects) {
  addDefinitionEffect(getDefines(), effects);
}
void LoopOp::getEffects(Effects &effects) {
  addDefinitionEffect(getDefines(), effects);
}

//===----------------------------------------------------------------------===//
// FusedOp
//===----------------------------------------------------------------------===//

/// `tw.fused @name(%a = %x : type, …) attr-dict { … } : type, …`
ParseResult FusedOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseSymbolName(name, "sym_name", result.attributes)) {
    return failure();
  }
  auto parseBinding = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(arguments.back().type)) {
      return failure();
    }
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseBinding) ||
      parseRest(parser, result, arguments)) {
    return failure();
  }
  SmallVector<Type> types;
  for (OpAsmParser::Argument &argument : arguments) {
    types.push_back(argument.type);
  }
  return parser.resolveOperands(operands, types, loc, result.operands);
}

void FusedOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          auto [argument, input] = pair;
                          printer << argument << " = " << input << " : "
                                  << input.getType();
                        });
  printer << ")";
  printRest(printer, *this, {"sym_name"});
}

LogicalResult JoinOp::verify() {
  SmallVector<DimExpr> dims = dimsOf(getType());
  if (getParts().empty() || getAxis() >= dims.size()) {
    return emitOpError("needs parts and an axis of its result");
  }
  DimExpr end = DimExpr::constant(getContext(), 0);
  for (Value part : getParts()) {
    SmallVector<DimExpr> own = dimsOf(part.getType());
    if (own.size() != dims.size() || !llvm::all_of(own, [](DimExpr dim) {
          return static_cast<bool>(dim);
        })) {
      return emitOpError("has a part of another rank or of unknown size");
    }
    end = end + own[getAxis()];
    own[getAxis()] = dims[getAxis()];
    if (own != dims ||
        elementTypeOf(part.getType()) != elementTypeOf(getType())) {
      return emitOpError("has a part that differs beside the axis");
    }
  }
  if (end != dims[getAxis()]) {
    return emitOpError("has parts that do not fill the axis");
  }
  return success();
}

LogicalResult FusedOp::verify() {
  Block &block = getBody().front();
  if (TypeRange(block.getArgumentTypes()) !=
      TypeRange(getInputs().getTypes())) {
    return emitOpError("has block arguments that do not match its operands");
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield ||
      TypeRange(yield.getOperandTypes()) != TypeRange(getResultTypes())) {
    return emitOpError("must yield exactly its results");
  }
  for (Operation &op : block.without_terminator()) {
    if (!isPrimitive(&op) && !isa<ReshapeOp, ConstantOp>(op)) {
      return op.emitOpError("cannot be part of a fused region");
    }
  }
  return success();
}

} // namespace tilewright::tw

#include "ir/TwInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "ir/TwOps.cpp.inc"
