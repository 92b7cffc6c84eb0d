//===- TwkOps.td - the operations of the kernel dialect ----*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_IR_TWK_TWKOPS_TD
#define TILEWRIGHT_IR_TWK_TWKOPS_TD

include "ir/twk/TwkDialect.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Twk_Op<string mnemonic, list<Trait> traits = []>
    : Op<Twk_Dialect, mnemonic, traits>;

def Twk_KernelOp : Twk_Op<"kernel", [
    AutomaticAllocationScope, IsolatedFromAbove, Symbol, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a function that the runtime launches";
  let description = [{
    The arguments of the entry block are, in this order:

    - *buffers*: one-dimensional memrefs of storage types, inputs before
      outputs. Buffers are aligned to their element type, no more.
    - *sizes*: index values, in the order of the launch command.
    - *tasks*: with `simd` the range `[begin, end)` of task numbers of this call,
      with `simt` the number of blocks of the grid.
    - *worker* (`simd` only): the number of the calling thread.
    - *workspace*: scratch memory, 64-byte aligned, with `simd` of this worker,
      with `simt` of the launch.
    - *status*: set to a non-zero code when the kernel meets bad data.

    Storage types are i8, i16, i32, i64, f16, bf16, f32 and f64: bool, 4-bit and
    8-bit float elements lie in i8 buffers, and the body converts.

    No two buffers overlap unless the unit attribute `may_alias` says so: an
    output that is computed in place of an input needs it.

    The model `simd` admits `scf`, `arith`, `math`, `index`, `ub`, `vector` of fixed
    length, and `memref` on one-dimensional memrefs. `memref.alloca` is allowed
    in the entry block only, with a static size.

    In the model `simt` the body is what one thread of a block of `threads` does,
    in a one-dimensional grid. It admits `scf.for` and `scf.if`, scalar `arith` and
    `math`, `memref` on one-dimensional memrefs in global memory or in the
    address space `workgroup` (shared memory, from `gpu.dynamic_shared_memory`), and the
    operations of `gpu` and `nvgpu` that one thread executes: its numbers,
    barriers, shuffles, asynchronous copies, matrix fragments. Vectors have at most
    16 bytes and are only loaded, stored, taken apart and put together.

    ```mlir
    twk.kernel @scale simd buffers(%x: memref<?xf32>, %y: memref<?xf32>)
        sizes(%n: index) tasks(%begin: index, %end: index) worker(%w: index)
        workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
      …
      twk.return
    }
    twk.kernel @scale_gpu simt threads(256)
        buffers(%x: memref<?xf32>, %y: memref<?xf32>) sizes(%n: index)
        tasks(%blocks: index) workspace(%scratch: memref<?xi8>)
        status(%status: memref<1xi32>) {
      …
      twk.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Twk_ExecutionModelAttr:$model,
                       UnitAttr:$may_alias, OptionalAttr<I64Attr>:$threads);
  let regions = (region SizedRegion<1>:$body);

  let skipDefaultBuilders = 1;
  let builders = [
    /// Makes a kernel with its entry block: one buffer per entry of
    /// `bufferElements`, `numSizes` sizes. The caller fills the block and ends
    /// it with twk.return.
    OpBuilder<(ins "::llvm::StringRef":$name, "ExecutionModel":$model,
                   "::llvm::ArrayRef<::mlir::Type>":$bufferElements,
                   "unsigned":$numSizes)>
  ];

  let extraClassDeclaration = [{
    ::mlir::Block &getEntry() { return getBody().front(); }
    bool isSimt() { return getModel() == ExecutionModel::simt; }
    /// \returns the number of arguments after the buffers and sizes.
    unsigned getNumFixedArguments();

    unsigned getNumBuffers();
    unsigned getNumSizes();
    ::llvm::ArrayRef<::mlir::BlockArgument> getBuffers();
    ::llvm::ArrayRef<::mlir::BlockArgument> getSizes();
    ::mlir::BlockArgument getBuffer(unsigned index);
    ::mlir::BlockArgument getSize(unsigned index);
    /// Of a simd kernel.
    ::mlir::BlockArgument getBegin();
    ::mlir::BlockArgument getEnd();
    ::mlir::BlockArgument getWorker();
    /// Of a simt kernel.
    ::mlir::BlockArgument getBlocks();
    ::mlir::BlockArgument getWorkspace();
    ::mlir::BlockArgument getStatus();
  }];

  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Twk_MmaBytesOp : Twk_Op<"mma_bytes", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "a warp's product of matrices of bytes, added to accumulators";
  let description = [{
    `nvgpu.mma.sync` of shape 16x8x32 for the element types that it lacks: signed
    and unsigned integers in any combination (i32 accumulators), and 8-bit floats
    (f32 accumulators). The fragments are those of `nvgpu.mma.sync` for i8; `lhs`
    and `rhs` say what the bytes are: `i8`, `ui8`, `f8E4M3FN` or `f8E5M2`.

    ```mlir
    %d = twk.mma_bytes %a, %b, %c of ui8, i8
        : vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[2], [I8]>:$a,
                       VectorOfRankAndType<[2], [I8]>:$b,
                       VectorOfRankAndType<[2], [I32, F32]>:$acc,
                       TypeAttr:$lhs, TypeAttr:$rhs);
  let results = (outs VectorOfRankAndType<[2], [I32, F32]>:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc `of` $lhs `,` $rhs attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Twk_ReturnOp : Twk_Op<"return", [
    Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "the end of a kernel";
  let assemblyFormat = "attr-dict";
}

#endif // TILEWRIGHT_IR_TWK_TWKOPS_TD
