//===- TwInterfaces.td - interfaces of tw operations ------------*- tablegen -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#ifndef TW_INTERFACES_TD
#define TW_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Tw_DecomposeInterface : OpInterface<"DecomposeInterface"> {
  let cppNamespace = "::tilewright::tw";
  let description = [{
    A named operation says what it means as primitives. This is the only place
    where its meaning is written.
  }];
  let methods = [InterfaceMethod<
    /*desc=*/[{Builds the primitives at the builder's insertion point and
               returns one value per result, of the result's type.}],
    /*retTy=*/"::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>",
    /*methodName=*/"decompose",
    /*args=*/(ins "::mlir::OpBuilder &":$builder)>];
}

#endif // TW_INTERFACES_TD
