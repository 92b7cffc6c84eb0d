//===- TwDialect.td - the dialect, its attributes and enums -----*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#ifndef TW_DIALECT_TD
#define TW_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tw_Dialect : Dialect {
  let name = "tw";
  let cppNamespace = "::tilewright::tw";
  let summary = "Tensor programs as maps and reductions with scalar bodies";
  let description = [{
    The graph dialect. Two primitives, `tw.map` and `tw.reduce`, carry the
    meaning of nearly every operator; named operations decompose into them.
    See docs/design/architecture.md.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 0;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::func::FuncDialect"
  ];
  let extraClassDeclaration = [{
    /// The bytes behind every `#tw.blob` of this context.
    ConstantStore &getConstants() { return *constants; }
    void registerAttributes();

  private:
    std::unique_ptr<ConstantStore> constants;
  }];
}

class Tw_Attr<string name, string attrMnemonic> : AttrDef<Tw_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tw_SizeAttr : Tw_Attr<"Size", "size"> {
  let summary = "A size expression over symbols, in canonical form";
  let description = [{
    One node of an expression; build and read it through `DimExpr`, which keeps
    the canonical form (a sum of products), so that equal sizes are mostly the
    same attribute. Text: `#tw.size<N * 64 + (H + 1) floordiv 2>`.
  }];
  // kind: DimExpr::Kind; value: of a constant; name: of a symbol.
  let parameters = (ins "int64_t":$kind, "int64_t":$value, "::mlir::StringAttr":$name,
                        ArrayRefParameter<"::mlir::Attribute">:$operands);
  let hasCustomAssemblyFormat = 1;
}

def Tw_DimsAttr : Tw_Attr<"Dims", "dims"> {
  let summary = "The sizes of a tensor's axes, or of an iteration domain";
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static DimsAttr get(::mlir::MLIRContext *context, ::llvm::ArrayRef<DimExpr> dims);
    ::llvm::SmallVector<DimExpr> getDims() const;
  }];
}

def Tw_BlobAttr : Tw_Attr<"Blob", "blob"> {
  let summary = "A constant's bytes, by content hash, in the context's ConstantStore";
  let parameters = (ins StringRefParameter<"content hash">:$hash);
  let assemblyFormat = "`<` $hash `>`";
}

def Tw_FoldKind : I32EnumAttr<"FoldKind", "how a reduction combines scalars", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">,
    I32EnumAttrCase<"ArgMax", 6, "argmax">, I32EnumAttrCase<"ArgMin", 7, "argmin">,
    I32EnumAttrCase<"ArgMaxLast", 8, "argmax_last">, I32EnumAttrCase<"ArgMinLast", 9, "argmin_last">,
    I32EnumAttrCase<"Assign", 10, "assign">]> {
  let cppNamespace = "::tilewright::tw";
}

#endif // TW_DIALECT_TD
