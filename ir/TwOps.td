//===- TwOps.td - operations of the graph dialect ---------------*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Primitives, the operations of their bodies, named operations, data movement
// without computation, control flow, and the fused region.
//
//===----------------------------------------------------------------------===//

#ifndef TW_OPS_TD
#define TW_OPS_TD

include "ir/TwDialect.td"
include "ir/TwInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

class Tw_Op<string opMnemonic, list<Trait> traits = []> : Op<Tw_Dialect, opMnemonic, traits>;

def Tw_Tensor : RankedTensorOf<[AnyType]>;

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

class Tw_Primitive<string opMnemonic, list<Trait> traits = []>
    : Tw_Op<opMnemonic, !listconcat(traits, [
        RecursivelySpeculatable, RecursiveMemoryEffects, SingleBlock,
        SingleBlockImplicitTerminator<"YieldOp">,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>])> {
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tw_MapOp : Tw_Primitive<"map"> {
  let summary = "Computes every element of its results from the element's coordinates";
  let description = [{
    The block arguments are the coordinates (`index`), one per axis; the body
    yields one scalar per result. All results have the same dims.

    ```mlir
    %y = tw.map(%i, %j) {
      %a = tw.load %x[%i, %j] : tensor<4x8xf32>
      %b = tw.load %bias[%j] : tensor<8xf32>
      %c = arith.addf %a, %b : f32
      tw.yield %c : f32
    } : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$root);
  let results = (outs Variadic<Tw_Tensor>:$results);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$types)>];
  let extraClassDeclaration = [{
    /// The iteration domain: the dims of the results.
    ::llvm::SmallVector<DimExpr> getDomain();
  }];
}

def Tw_ReduceOp : Tw_Primitive<"reduce"> {
  let summary = "Folds a scalar over reduction axes";
  let description = [{
    The block arguments are the result's coordinates, then the coordinates of
    the reduction, whose extents are `extents`. The body yields the scalar to
    fold, of the result's element type. An empty reduction gives the kind's
    identity (for `max`/`min` of integers the extreme value). `argmax` and its
    kin yield the scalar to compare; the result (i64) is the row-major position
    in the reduction's domain; ties go to the first position, or to the last.
    NaN propagates through `max` and `min`, and wins an `argmax`.

    ```mlir
    %c = tw.reduce add (%m, %n) over (%k) in [64] {
      %x = tw.load %a[%m, %k] : tensor<8x64xf32>
      %y = tw.load %b[%k, %n] : tensor<64x4xf32>
      %p = arith.mulf %x, %y : f32
      tw.yield %p : f32
    } : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Tw_FoldKind:$kind, Tw_DimsAttr:$extents, OptionalAttr<StrAttr>:$root);
  let results = (outs Tw_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "FoldKind":$kind,
                                 "::llvm::ArrayRef<DimExpr>":$extents)>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<DimExpr> getDomain();
    /// The number of result coordinates.
    unsigned getParallelRank();
    bool isArg() {
      return getKind() >= FoldKind::ArgMax && getKind() <= FoldKind::ArgMinLast;
    }
  }];
}

def Tw_ScanOp : Tw_Primitive<"scan"> {
  let summary = "Folds along one axis and keeps every prefix";
  let description = [{
    Element i of the result along `axis` is the fold of elements 0..i
    (`exclusive`: 0..i-1; `reverse`: from the other end).
  }];
  let arguments = (ins Tw_FoldKind:$kind, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse,
                       OptionalAttr<StrAttr>:$root);
  let results = (outs Tw_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "FoldKind":$kind, "int64_t":$axis,
                                 "bool":$exclusive, "bool":$reverse)>];
  let extraClassDeclaration = [{ ::llvm::SmallVector<DimExpr> getDomain(); }];
}

def Tw_ScatterOp : Tw_Primitive<"scatter"> {
  let summary = "Writes scalars at computed coordinates of a copy of a tensor";
  let description = [{
    The domain `extents` is walked in row-major order, so the last of several
    writes to one place wins. The body yields one coordinate (`index`) per axis
    of the result, then the scalar. `kind` says how it joins what is there.
  }];
  let arguments = (ins Tw_Tensor:$init, Tw_FoldKind:$kind, Tw_DimsAttr:$extents,
                       OptionalAttr<StrAttr>:$root);
  let results = (outs Tw_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$init, "FoldKind":$kind,
                                 "::llvm::ArrayRef<DimExpr>":$extents)>];
  let extraClassDeclaration = [{ ::llvm::SmallVector<DimExpr> getDomain(); }];
}

def Tw_YieldOp : Tw_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends a body or a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Inside bodies
//===----------------------------------------------------------------------===//

def Tw_LoadOp : Tw_Op<"load", [Pure, AttrSizedOperandSegments]> {
  let summary = "Reads one element of a tensor";
  let description = [{
    Coordinates must lie inside the tensor wherever the guard, if there is one,
    is true; where it is false the result is `otherwise`. The result is the
    signless scalar of the element type.
  }];
  let arguments = (ins Tw_Tensor:$source, Variadic<Index>:$indices, Optional<I1>:$guard,
                       Optional<AnyType>:$otherwise);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`guard` $guard^ `else` $otherwise `:` type($otherwise))?
    attr-dict `:` type($source) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::ValueRange":$indices)>,
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::ValueRange":$indices, "::mlir::Value":$guard,
                   "::mlir::Value":$otherwise)>];
  let hasVerifier = 1;
}

def Tw_SizeOp : Tw_Op<"size", [Pure]> {
  let summary = "The value of a size expression";
  let arguments = (ins Tw_SizeAttr:$size);
  let results = (outs Index:$result);
  let assemblyFormat = "$size attr-dict";
  let builders = [OpBuilder<(ins "DimExpr":$size), [{
    build($_builder, $_state, $_builder.getIndexType(),
          ::llvm::cast<SizeAttr>(size.getAttribute()));
  }]>];
  let hasFolder = 1;
}

def Tw_ClampIndexOp : Tw_Op<"clamp_index", [Pure]> {
  let summary = "A data-dependent coordinate, forced into [0, bound)";
  let description = [{
    A coordinate outside is clamped and reported at run time, with the node, as
    an error of the user's data. Repeating or dropping the operation is harmless.
  }];
  let arguments = (ins Index:$index, Index:$bound);
  let results = (outs Index:$result);
  let assemblyFormat = "$index `,` $bound attr-dict";
}

//===----------------------------------------------------------------------===//
// Tensors without computation
//===----------------------------------------------------------------------===//

def Tw_ConstantOp : Tw_Op<"constant", [Pure, ConstantLike]> {
  let summary = "A constant tensor: `dense` when small, a `#tw.blob` otherwise";
  let arguments = (ins AnyAttr:$value);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = "custom<ConstantValue>(type($result), $value) attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tw_ReshapeOp : Tw_Op<"reshape", [Pure]> {
  let summary = "The same elements, in row-major order, in another shape";
  let arguments = (ins Tw_Tensor:$source);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tw_JoinOp : Tw_Op<"join", [Pure]> {
  let summary = "Tensors end to end along an axis, where they lie";
  let description = [{
    Its operands are results of regions of the same block, each used by this one
    join: they lie in the join's result, and the regions that write and read
    them address that memory. So nothing is copied.
  }];
  let arguments = (ins Variadic<Tw_Tensor>:$parts, I64Attr:$axis);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = "$parts `axis` $axis attr-dict `:` functional-type($parts, $result)";
  let hasVerifier = 1;
}

def Tw_SizesOp : Tw_Op<"sizes", [Pure]> {
  let summary = "A tensor<kxi64> (or tensor<i64>) of sizes";
  let arguments = (ins Tw_DimsAttr:$sizes);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = "$sizes attr-dict `:` type($result)";
}

def Tw_ReadSizesOp : Tw_Op<"read_sizes"> {
  let summary = "Defines symbols by elements of an integer tensor (i64) at run time";
  let description = [{
    Symbol k is element `elements[k]`, which must be at least `minimum`.
  }];
  let arguments = (ins Tw_Tensor:$source, DenseI64ArrayAttr:$elements, StrArrayAttr:$defines,
                       DefaultValuedAttr<I64Attr, "0">:$minimum);
  let assemblyFormat = "$source $elements `defines` $defines attr-dict `:` type($source)";
}

def Tw_CallOp : Tw_Op<"call"> {
  let summary = "An irregular operator that the runtime implements";
  let description = [{
    `operands_present[i]` is false where the builtin's optional input i is left
    out. Symbols in `defines` are set by the builtin, in its own order.
  }];
  let arguments = (ins StrAttr:$callee, Variadic<Tw_Tensor>:$inputs,
                       DenseBoolArrayAttr:$operands_present,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$ints,
                       DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$floats,
                       OptionalAttr<StrArrayAttr>:$strings,
                       OptionalAttr<StrArrayAttr>:$defines);
  let results = (outs Variadic<Tw_Tensor>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let extraClassDeclaration = [{
    /// True if two calls with equal operands may differ (random numbers).
    bool isRandom() {
      return getCallee().starts_with("random_") || getCallee() == "bernoulli" ||
             getCallee() == "multinomial";
    }
  }];
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// An operation with regions whose `defines` is set has an effect of its own:
/// types elsewhere may mention the symbols, though nobody uses a result.
class Tw_ControlOp<string opMnemonic, list<Trait> traits = []>
    : Tw_Op<opMnemonic, !listconcat(traits, [
        RecursiveMemoryEffects, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])>;

def Tw_IfOp : Tw_ControlOp<"if"> {
  let summary = "Runs one of two regions";
  let description = [{
    Result sizes that differ between the branches are symbols in `defines`; each
    stands alone as a dim of some result.
  }];
  let arguments = (ins Tw_Tensor:$condition, OptionalAttr<StrArrayAttr>:$defines);
  let results = (outs Variadic<Tw_Tensor>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $condition attr-dict `:` functional-type($condition, $results) $thenRegion `else` $elseRegion
  }];
}

def Tw_LoopOp : Tw_ControlOp<"loop", [AttrSizedOperandSegments]> {
  let summary = "ONNX's Loop: a trip count, a condition, carried values, stacked scan values";
  let description = [{
    Body arguments: iteration number (tensor<i64>), condition (tensor<i1>),
    carried values. The body yields the condition, the carried values, and the
    values to stack. Results: final carried values, then the stacks. Symbols in
    `defines` stand alone as dims of body arguments or of results (the number of
    iterations is axis 0 of every stack).
  }];
  let arguments = (ins Optional<Tw_Tensor>:$trip_count, Optional<Tw_Tensor>:$condition,
                       Variadic<Tw_Tensor>:$carried, OptionalAttr<StrArrayAttr>:$defines);
  let results = (outs Variadic<Tw_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`trips` $trip_count^ `:` type($trip_count))? (`while` $condition^ `:` type($condition))?
    `carrying` `(` ($carried^ `:` type($carried))? `)` attr-dict `:` type($results) $body
  }];
}

def Tw_FusedOp : Tw_Op<"fused", [IsolatedFromAbove, RecursiveMemoryEffects,
                                  RecursivelySpeculatable, SingleBlock]> {
  let summary = "A region that becomes one kernel";
  let description = [{
    The block arguments stand for the operands. The region holds primitives and
    reshapes; what it yields are the kernel's outputs.
  }];
  let arguments = (ins StrAttr:$sym_name, Variadic<Tw_Tensor>:$inputs,
                       OptionalAttr<AnyAttr>:$tactic);
  let results = (outs Variadic<Tw_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Named operations
//===----------------------------------------------------------------------===//

class Tw_NamedOp<string opMnemonic, list<Trait> traits = []>
    : Tw_Op<opMnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Tw_DecomposeInterface>],
                                    traits)>;

def Tw_MatmulOp : Tw_NamedOp<"matmul"> {
  let summary = "numpy's matmul: batches broadcast, the last two axes multiply";
  let description = [{
    Operands have rank at least one; a rank-1 operand is a row (left) or a
    column (right) whose axis the result lacks. `transposeA` and `transposeB`
    swap an operand's last two axes first.
  }];
  let arguments = (ins Tw_Tensor:$lhs, Tw_Tensor:$rhs, UnitAttr:$transposeA, UnitAttr:$transposeB);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

def Tw_ConvOp : Tw_NamedOp<"conv"> {
  let summary = "Convolution: x [N, C, spatial…], w [M, C/group, kernel…] → [N, M, spatial…]";
  let description = [{
    `pads` lists the beginnings of the spatial axes, then the ends, in elements;
    they may be negative. Missing strides and dilations are one.
  }];
  let arguments = (ins Tw_Tensor:$input, Tw_Tensor:$weights, Optional<Tw_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, Tw_DimsAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$group);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $weights (`bias` $bias^ `:` type($bias))? `strides` $strides `pads` $pads
    `dilations` $dilations `group` $group attr-dict
    `:` type($input) `,` type($weights) `->` type($result)
  }];
}

def Tw_BatchNormOp : Tw_NamedOp<"batch_norm"> {
  let summary = "(x - mean) * scale / sqrt(variance + epsilon) + bias over axis 1";
  let arguments = (ins Tw_Tensor:$input, Tw_Tensor:$scale, Tw_Tensor:$bias, Tw_Tensor:$mean,
                       Tw_Tensor:$variance, F64Attr:$epsilon);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `,` $mean `,` $variance `epsilon` $epsilon attr-dict
    `:` type($input) `,` type($scale) `,` type($bias) `,` type($mean) `,` type($variance)
    `->` type($result)
  }];
}

def Tw_SoftmaxOp : Tw_NamedOp<"softmax"> {
  let summary = "exp(x - max) / sum(exp(x - max)) along an axis, or its logarithm";
  let arguments = (ins Tw_Tensor:$input, I64Attr:$axis, UnitAttr:$log);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input) `->` type($result)";
}

def Tw_NormalizeOp : Tw_NamedOp<"normalize", [AttrSizedOperandSegments]> {
  let summary = "Layer and RMS normalisation over the axes from `axis` on";
  let description = [{
    y = (x - mean) / sqrt(variance + epsilon) * scale + bias, in two passes;
    with `rms`, mean is zero and variance the mean of squares. Scale and bias
    broadcast to x (numpy rules). Statistics are in f32 (f64 for f64).
  }];
  let arguments = (ins Tw_Tensor:$input, Optional<Tw_Tensor>:$scale, Optional<Tw_Tensor>:$bias,
                       I64Attr:$axis, F64Attr:$epsilon, UnitAttr:$rms);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = [{
    $input (`scale` $scale^ `:` type($scale))? (`bias` $bias^ `:` type($bias))?
    `axis` $axis `epsilon` $epsilon attr-dict `:` type($input) `->` type($result)
  }];
}

def Tw_PoolKind : I32EnumAttr<"PoolKind", "what a pool computes of its window", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">,
    I32EnumAttrCase<"Lp", 2, "lp">]> {
  let cppNamespace = "::tilewright::tw";
}

def Tw_PoolOp : Tw_NamedOp<"pool"> {
  let summary = "Maximum, average or p-norm over windows of the spatial axes";
  let description = [{
    Elements in the padding never count for `max`; for `average` they count as
    zeros in the divisor where `countPadding` is set, but elements beyond the
    padding (from rounding the output size up) never do.
  }];
  let arguments = (ins Tw_Tensor:$input, Tw_PoolKind:$kind, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, Tw_DimsAttr:$pads,
                       DenseI64ArrayAttr:$dilations, UnitAttr:$countPadding,
                       DefaultValuedAttr<I64Attr, "2">:$p);
  let results = (outs Tw_Tensor:$result);
  let assemblyFormat = [{
    $kind $input `kernel` $kernel `strides` $strides `pads` $pads `dilations` $dilations
    attr-dict `:` type($input) `->` type($result)
  }];
}

#endif // TW_OPS_TD
