//===- TwkDialect.td - the kernel dialect ------------------*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_IR_TWK_TWKDIALECT_TD
#define TILEWRIGHT_IR_TWK_TWKDIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Twk_Dialect : Dialect {
  let name = "twk";
  let cppNamespace = "::tilewright::twk";
  let useDefaultAttributePrinterParser = 1;
  let summary = "Kernels: what one launch of the runtime executes";
  let description = [{
    A `twk.kernel` is a function over flat buffers with the calling convention
    of the runtime. It declares an execution model, and the verifier holds its
    body to the operations of that model.
  }];
}

def Twk_ExecutionModel : I32Enum<"ExecutionModel", "how a kernel executes", [
  I32EnumCase<"simd", 0>, I32EnumCase<"simt", 1>
]> {
  let cppNamespace = "::tilewright::twk";
}

def Twk_ExecutionModelAttr : EnumAttr<Twk_Dialect, Twk_ExecutionModel, "model">;

#endif // TILEWRIGHT_IR_TWK_TWKDIALECT_TD
