// RUN: tilewright-opt %s --tw-decompose --mlir-print-debuginfo | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK-NOT: tw.matmul
// CHECK: tw.reduce add (%i, %j) over (%r) in <[8]> attributes {root = "matmul"}
// CHECK: } : tensor<4x2xf32> loc(#[[LOC:.*]])
// CHECK: #[[LOC]] = loc("fc1")
func.func @product(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %c = tw.matmul %a, %b : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32> loc("fc1")
  return %c : tensor<4x2xf32>
}
